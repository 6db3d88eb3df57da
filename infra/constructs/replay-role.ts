/** The role that an operator takes on to put a dead letter back into its queue, and can do nothing else with. */

import { Lazy } from "aws-cdk-lib";
import { AccountRootPrincipal, PolicyDocument, PolicyStatement, Role } from "aws-cdk-lib/aws-iam";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { roleName } from "../../shared/domain/identity.ts";

export class ReplayRole extends Construct {
  readonly role: Role;
  readonly #queueArns: string[] = [];

  constructor(scope: Construct, id: string, props: { readonly cluster: string }) {
    super(scope, id);
    this.role = new Role(this, "Role", {
      roleName: roleName(props.cluster, "replay"),
      description: `nodekeeper: puts dead letters of cluster ${props.cluster} back into their queue`,
      // Whoever the account's own administrators let assume it.
      assumedBy: new AccountRootPrincipal(),
      inlinePolicies: {
        replay: new PolicyDocument({
          statements: [
            new PolicyStatement({
              sid: "PutBack",
              actions: ["sqs:SendMessage"],
              resources: Lazy.list({ produce: () => this.#queueArns }),
            }),
          ],
        }),
      },
    });
  }

  mayPutBackInto(queue: IQueue): void {
    this.#queueArns.push(queue.queueArn);
  }
}
