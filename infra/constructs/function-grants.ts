/**
 * What every function may do in AWS, and what those do that work off a queue: one grant per line beside its reason. In
 * the cluster it is the relay's table.
 */
import { Validations } from "aws-cdk-lib";
import { Effect, PolicyDocument, PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import type { WorkQueue } from "./work-queue.ts";

interface GrantTargets {
  /** What this function may do besides what each needs. */
  readonly own: readonly PolicyStatement[];
  readonly logGroup: ILogGroup;
  readonly functionArn: string;
}

/** Network interfaces through which Lambda joins the VPC. EC2 knows no narrower resource for these than "*". */
const NETWORK_INTERFACES = [
  "ec2:CreateNetworkInterface",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:DeleteNetworkInterface",
  "ec2:AssignPrivateIpAddresses",
  "ec2:UnassignPrivateIpAddresses",
];

export function grantsOf({ own, logGroup, functionArn }: GrantTargets): PolicyDocument {
  return new PolicyDocument({
    statements: [
      ...own,
      allow("WriteOwnLogs", ["logs:CreateLogStream", "logs:PutLogEvents"], logGroup.logGroupArn),
      // X-Ray knows no resources for these two.
      allow("SendTraces", ["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "*"),
      allow("JoinVpc", NETWORK_INTERFACES, "*"),
      // That grant is for Lambda's service; the function's own code doesn't get to use it.
      // https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
      new PolicyStatement({
        sid: "ButNotFromCode",
        effect: Effect.DENY,
        actions: NETWORK_INTERFACES,
        resources: ["*"],
        conditions: { ArnEquals: { "lambda:SourceFunctionArn": [functionArn] } },
      }),
    ],
  });
}

/** What a function that works off a queue may do. */
export function drainGrants({ queue, deadLetters }: WorkQueue): readonly PolicyStatement[] {
  return [
    // The mapping takes signals and, once they are done, deletes them.
    allow("TakeSignals", ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], queue.queueArn),
    // A signal that needs another look comes back after so many seconds. Never sending: a loop is one message.
    allow("ComeBackLater", ["sqs:ChangeMessageVisibility"], queue.queueArn),
    // What can't be read, or can't be helped, is set aside with the reason.
    allow("SetAside", ["sqs:SendMessage"], deadLetters.queueArn),
    // Whether an instance without a Node is of this cluster. Describe calls know no resources.
    allow("KnowForeignInstances", ["ec2:DescribeInstances"], "*"),
  ];
}

/** The grants on "*" are what AWS offers: they are said here so that the audit flags any other. */
export function acknowledgeStars(role: Role): void {
  Validations.of(role).acknowledge({
    id: "AwsSolutions::AwsSolutions-IAM5[Resource::*]",
    reason: "DescribeInstances, X-Ray and the network interfaces of a VPC function have no resource-level permissions.",
  });
}

/** One line of a role: may do these on that. */
export function allow(sid: string, actions: string[], resource: string): PolicyStatement {
  return new PolicyStatement({ sid, actions, resources: [resource] });
}
