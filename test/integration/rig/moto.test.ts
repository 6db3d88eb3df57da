/** moto is asked for instances only; it must filter by tags as EC2 does. */
import { DescribeInstancesCommand, EC2Client, RunInstancesCommand } from "@aws-sdk/client-ec2";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Moto, startMoto } from "../../rig/moto.ts";
import { describeReal } from "../../rig/real-parts.ts";

describeReal("moto", ["moto"], () => {
  let moto: Moto;
  beforeAll(async () => {
    moto = await startMoto();
  });
  afterAll(() => moto?.stop());

  it("finds the instances with a tag, and forgets them when reset", async () => {
    const client = new EC2Client(moto.clientConfig);
    await client.send(
      new RunInstancesCommand({
        ImageId: "ami-12c6146b",
        MinCount: 3,
        MaxCount: 3,
        TagSpecifications: [{ ResourceType: "instance", Tags: [{ Key: "kubernetes.io/cluster/rig", Value: "owned" }] }],
      }),
    );
    const find = async () => {
      const Filters = [{ Name: "tag-key", Values: ["kubernetes.io/cluster/rig"] }];
      const answer = await client.send(new DescribeInstancesCommand({ Filters }));
      return (answer.Reservations ?? []).flatMap((one) => one.Instances ?? []).length;
    };
    expect(await find()).toBe(3);
    await moto.reset();
    expect(await find()).toBe(0);
  });
});
