/** The contract of the port `Instances` on the adapter, against a server that speaks EC2's language. */
import { EC2Client, RunInstancesCommand, StopInstancesCommand, TerminateInstancesCommand } from "@aws-sdk/client-ec2";
import { ec2Instances } from "../../../shared/adapters/ec2-instances.ts";
import { startMoto } from "../../rig/moto.ts";
import { findFreePort } from "../../rig/ports.ts";
import { describeReal } from "../../rig/real-parts.ts";
import { type InstancesWorld, instancesContract } from "./instances-contract.ts";

describeReal("instances of EC2", ["moto"], () => {
  instancesContract(openWorld);
});

async function openWorld(): Promise<InstancesWorld> {
  const moto = await startMoto();
  const ec2 = new EC2Client(moto.clientConfig);
  const never = new AbortController().signal;
  const nobody = `http://127.0.0.1:${await findFreePort()}`;
  return {
    instances: ec2Instances(moto.clientConfig).during(never),
    unreachable: ec2Instances({ ...moto.clientConfig, endpoint: nobody }).during(never),
    async launch(tags, { isSpot } = { isSpot: false }) {
      const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
      const answer = await ec2.send(
        new RunInstancesCommand({
          ImageId: "ami-12345678",
          MinCount: 1,
          MaxCount: 1,
          ...(isSpot && { InstanceMarketOptions: { MarketType: "spot" } }),
          ...(Tags.length > 0 && { TagSpecifications: [{ ResourceType: "instance", Tags }] }),
        }),
      );
      return answer.Instances?.[0]?.InstanceId ?? "";
    },
    async stop(id) {
      await ec2.send(new StopInstancesCommand({ InstanceIds: [id] }));
    },
    async terminate(id) {
      await ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
    },
    async [Symbol.asyncDispose]() {
      ec2.destroy();
      await moto.stop();
    },
  };
}
