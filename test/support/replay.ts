/** Puts messages into a queue as an operator does after a fault: through the replay role, and as nobody else may. */
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import type { Installation } from "./installation.ts";

/** A client with the rights of the replay role. */
export async function assumeReplayRole({ emulator, replayRoleArn }: Installation): Promise<SQSClient> {
  const sts = new STSClient(emulator.clientConfig);
  const { Credentials: given } = await sts.send(
    new AssumeRoleCommand({ RoleArn: replayRoleArn, RoleSessionName: "on-call" }),
  );
  const { AccessKeyId = "", SecretAccessKey = "", SessionToken = "" } = given ?? {};
  const credentials = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
  return new SQSClient({ ...emulator.clientConfig, credentials });
}

/** @throws AccessDenied where the sender may not. */
export async function sendMessage(sender: SQSClient, QueueUrl: string, body: object): Promise<void> {
  await sender.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(body) }));
}

/** A notice as EventBridge wraps it, with an id that stays the same however often it is sent. */
export function spotNotice(id: string, instanceId: string, { account, region }: Installation["emulator"]) {
  return {
    version: "0",
    id,
    "detail-type": "EC2 Spot Instance Interruption Warning",
    source: "aws.ec2",
    account,
    // EventBridge gives whole seconds.
    time: `${new Date().toISOString().slice(0, 19)}Z`,
    region,
    resources: [],
    detail: { "instance-id": instanceId, "instance-action": "terminate" },
  };
}
