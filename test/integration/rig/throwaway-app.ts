/** A CDK app of one queue and one role that may only send to it, to see what the emulator does with rights. */
import { App, CfnOutput, Stack } from "aws-cdk-lib";
import { AccountRootPrincipal, Role } from "aws-cdk-lib/aws-iam";
import { Queue } from "aws-cdk-lib/aws-sqs";

export const ROLE_NAME = "rig-sender";

/** Synthesizes into the folder. The stack `throwaway` has the outputs `QueueUrl` and `RoleArn`. */
export function synthesizeThrowaway(cdkOut: string, env: { account: string; region: string }): void {
  const app = new App({ outdir: cdkOut, analyticsReporting: false });
  const stack = new Stack(app, "throwaway", { env });
  const queue = new Queue(stack, "Queue");
  const role = new Role(stack, "Sender", { roleName: ROLE_NAME, assumedBy: new AccountRootPrincipal() });
  queue.grantSendMessages(role);
  new CfnOutput(stack, "QueueUrl", { value: queue.queueUrl });
  new CfnOutput(stack, "RoleArn", { value: role.roleArn });
  app.synth();
}
