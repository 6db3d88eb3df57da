/** The emulator is worth something only if it refuses what AWS refuses: rights, forged signatures, another audience. */
import { mkdtempDisposable } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RoleCredentials, tokenSource } from "../../../shared/adapters/api-token.ts";
import { TOKEN_PREFIX } from "../../../shared/domain/identity.ts";
import { bootstrap, deploy } from "../../rig/deploy.ts";
import { type Emulator, startEmulator } from "../../rig/emulator.ts";
import { describeReal } from "../../rig/real-parts.ts";
import { type StsFront, startStsFront } from "../../rig/sts-tls.ts";
import { ROLE_NAME, synthesizeThrowaway } from "./throwaway-app.ts";

const AUDIENCE = "nodekeeper-relay/rig/eu-west-1";

describeReal("the AWS emulator with rights enforced", ["emulator"], () => {
  let emulator: Emulator;
  let sts: StsFront;
  let queueUrl: string;
  let sender: RoleCredentials;

  beforeAll(async () => {
    emulator = await startEmulator({ auth: true });
    sts = await startStsFront(emulator);
    await using folder = await mkdtempDisposable(join(tmpdir(), "nodekeeper-throwaway-"));
    synthesizeThrowaway(folder.path, emulator);
    await bootstrap(emulator);
    const outputs = await deploy(emulator, { cdkOut: folder.path });
    queueUrl = outputs.throwaway?.QueueUrl ?? "";
    sender = await assume(outputs.throwaway?.RoleArn ?? "");
  });
  afterAll(async () => {
    await sts?.stop();
    await emulator?.stop();
  });

  async function assume(roleArn: string): Promise<RoleCredentials> {
    const client = new STSClient(emulator.clientConfig);
    const { Credentials: given } = await client.send(
      new AssumeRoleCommand({ RoleArn: roleArn, RoleSessionName: "rig" }),
    );
    const { AccessKeyId = "", SecretAccessKey = "", SessionToken = "" } = given ?? {};
    return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
  }

  it("lets a role do what its policy allows, and nothing else", async () => {
    const client = new SQSClient({ ...emulator.clientConfig, credentials: sender });
    await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: "hello" }));
    await expect(client.send(new ReceiveMessageCommand({ QueueUrl: queueUrl }))).rejects.toThrow(/not authorized/i);
  });

  it("refuses a key pair that it never gave out", async () => {
    const credentials = { accessKeyId: "unknown-to-the-emulator", secretAccessKey: "guessed" };
    const client = new SQSClient({ ...emulator.clientConfig, credentials });
    await expect(client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: "x" }))).rejects.toThrow();
  });

  it("tells who signed a URL, in JSON, over TLS under the name of STS", async () => {
    const answer = await askSts(await signedUrl());
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({
      GetCallerIdentityResponse: {
        GetCallerIdentityResult: {
          Account: emulator.account,
          Arn: `arn:aws:sts::${emulator.account}:assumed-role/${ROLE_NAME}/rig`,
        },
      },
    });
  });

  it("refuses a URL that was changed after it was signed", async () => {
    const url = await signedUrl();
    url.searchParams.set("X-Amz-Expires", "600");
    expect((await askSts(url)).status).toBe(403);
  });

  it("refuses a URL that was signed for another audience", async () => {
    expect((await askSts(await signedUrl(), "nodekeeper-relay/other/eu-west-1")).status).toBe(403);
  });

  it("is not believed by a client that doesn't know its authority", async () => {
    await expect(askSts(await signedUrl(), AUDIENCE, "")).rejects.toThrow(/certificate/);
  });

  async function signedUrl(): Promise<URL> {
    const next = tokenSource({
      region: emulator.region,
      audience: AUDIENCE,
      credentials: () => sender,
      clock: { now: () => new Date() },
    });
    return new URL(Buffer.from((await next()).slice(TOKEN_PREFIX.length), "base64url").toString());
  }

  function askSts(url: URL, audience = AUDIENCE, ca = sts.caPem): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: "127.0.0.1",
          port: sts.port,
          servername: sts.host,
          path: url.pathname + url.search,
          headers: { Host: sts.host, "x-k8s-aws-id": audience, Accept: "application/json" },
          ...(ca === "" ? {} : { ca }),
        },
        (response) => {
          text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
        },
      );
      outgoing.on("error", reject).end();
    });
  }
});
