/** Where the functions stand in the installation's VPC, known by ids only, and how they reach SQS and EC2 from there. */
import { Annotations } from "aws-cdk-lib";
import {
  InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  type ISecurityGroup,
  type ISubnet,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  Subnet,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { Construct } from "constructs";
import type { DeployConfig } from "../deploy-config.ts";

/** What drain functions call. Tokens are signed without STS, and Lambda ships logs and traces by its own way. */
const SERVICES = {
  Sqs: InterfaceVpcEndpointAwsService.SQS,
  Ec2: InterfaceVpcEndpointAwsService.EC2,
};

export class FunctionNetwork extends Construct {
  readonly vpc: IVpc;
  readonly subnets: ISubnet[];
  readonly securityGroups: ISecurityGroup[];

  constructor(scope: Construct, id: string, network: DeployConfig["network"]) {
    super(scope, id);
    // Nothing is looked up. The import wants a zone, but nothing that is made here asks for its name.
    this.vpc = Vpc.fromVpcAttributes(this, "Vpc", { vpcId: network.vpcId, availabilityZones: ["not-looked-up"] });
    this.subnets = network.subnetIds.map((subnetId) => this.#importSubnet(subnetId));
    this.securityGroups = network.securityGroupIds.map((groupId) =>
      SecurityGroup.fromSecurityGroupId(this, groupId, groupId, { mutable: false }),
    );
    if (network.endpoints === "create") this.#createEndpoints(network.vpcCidrs);
  }

  #importSubnet(subnetId: string): ISubnet {
    const subnet = Subnet.fromSubnetId(this, subnetId, subnetId);
    Annotations.of(subnet).acknowledgeWarning("@aws-cdk/aws-ec2:noSubnetRouteTableId", "no route is made here");
    return subnet;
  }

  /**
   * With private names, an endpoint answers for its service in the whole VPC, nodes included. So the whole VPC is let
   * in; letting in the functions alone would cut every node off from EC2.
   */
  #createEndpoints(vpcCidrs: readonly string[]): void {
    const door = new SecurityGroup(this, "EndpointSecurityGroup", {
      vpc: this.vpc,
      description: "nodekeeper: who may use the endpoints of SQS and EC2",
      allowAllOutbound: false,
    });
    for (const cidr of vpcCidrs) door.addIngressRule(Peer.ipv4(cidr), Port.tcp(443), "all of the VPC");
    for (const [name, service] of Object.entries(SERVICES)) {
      new InterfaceVpcEndpoint(this, `${name}Endpoint`, {
        vpc: this.vpc,
        service,
        subnets: { subnets: this.subnets },
        securityGroups: [door],
        open: false,
        privateDnsEnabled: true,
      });
    }
  }
}
