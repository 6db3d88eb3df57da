/** What fence-node may do in AWS: ask EC2 for the proof that an instance is dead, and make it dead by policy. */
import { type Stack, Token, Validations } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { allow } from "./function-grants.ts";

export interface FenceGrants {
  readonly stack: Stack;
  /** How instances of the cluster are told from others: a tag, and its value unless any will do. */
  readonly tag: { readonly name: string; readonly value?: string | undefined };
  /** Whether the policy of any fenced node says `stop`. */
  readonly mayStop: boolean;
}

export function fenceGrants({ stack, tag, mayStop }: FenceGrants): readonly PolicyStatement[] {
  // Whether a silent instance is stopped or terminated. Describe calls know no resources.
  const ask = allow("AskForProof", ["ec2:DescribeInstances"], "*");
  if (!mayStop) return [ask];
  return [
    ask,
    // Any instance, since nobody knows in advance which will be silent, but none without the cluster's tag.
    new PolicyStatement({
      sid: "EndSilentInstances",
      actions: ["ec2:StopInstances", "ec2:TerminateInstances"],
      resources: [everyInstance(stack)],
      conditions: hasTag(tag),
    }),
  ];
}

/** The condition beside `instance/*` is what bounds it, which the audit doesn't see. */
export function acknowledgeEveryInstance(role: Role): void {
  Validations.of(role).acknowledge({
    id: `AwsSolutions::AwsSolutions-IAM5[Resource::${everyInstanceAsAudited(role.stack)}]`,
    reason: "Which instance will be silent isn't known in advance; only those with the cluster's tag may be ended.",
  });
}

function everyInstance(stack: Stack): string {
  return stack.formatArn({ service: "ec2", resource: "instance", resourceName: "*" });
}

/** What only the deployment will know is written `<AWS::Partition>` by the audit. */
function everyInstanceAsAudited({ partition, region, account }: Stack): string {
  const named = (value: string, name: string) => (Token.isUnresolved(value) ? `<AWS::${name}>` : value);
  const [where, whose] = [named(region, "Region"), named(account, "AccountId")];
  return `arn:${named(partition, "Partition")}:ec2:${where}:${whose}:instance/*`;
}

/** An instance without the tag has no such key, and then neither of the two holds. */
function hasTag({ name, value }: FenceGrants["tag"]): Record<string, Record<string, string>> {
  const key = `aws:ResourceTag/${name}`;
  return value === undefined ? { Null: { [key]: "false" } } : { StringEquals: { [key]: value } };
}
