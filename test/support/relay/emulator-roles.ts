/** IAM roles in the emulator and sessions of them: IAM's and STS's query APIs by hand, for two calls need no client. */
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { Hash } from "@smithy/core/serde";
import { SignatureV4 } from "@smithy/signature-v4";
import type { Emulator } from "../../rig/emulator.ts";
import type { Credentials } from "./tokens.ts";

/** Creates a role that the account may assume, and gives credentials of a session of it. */
export async function assumeNewRole(emulator: Emulator, roleName: string): Promise<Credentials> {
  const trust = {
    Effect: "Allow",
    Principal: { AWS: `arn:aws:iam::${emulator.account}:root` },
    Action: "sts:AssumeRole",
  };
  const AssumeRolePolicyDocument = JSON.stringify({ Version: "2012-10-17", Statement: [trust] });
  await callIam(emulator, {
    Action: "CreateRole",
    Version: "2010-05-08",
    RoleName: roleName,
    AssumeRolePolicyDocument,
  });

  const client = new STSClient(emulator.clientConfig);
  const RoleArn = `arn:aws:iam::${emulator.account}:role/${roleName}`;
  const { Credentials: given } = await client.send(new AssumeRoleCommand({ RoleArn, RoleSessionName: roleName }));
  const { AccessKeyId = "", SecretAccessKey = "", SessionToken = "" } = given ?? {};
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
}

async function callIam(emulator: Emulator, parameters: Readonly<Record<string, string>>): Promise<void> {
  const url = new URL(emulator.endpoint);
  const { credentials } = emulator.clientConfig;
  const sha256 = Hash.bind(null, "sha256");
  const signer = new SignatureV4({ service: "iam", region: emulator.region, credentials, sha256 });
  const body = new URLSearchParams(parameters).toString();
  const signed = await signer.sign({
    method: "POST",
    protocol: "http:",
    hostname: url.hostname,
    port: Number(url.port),
    path: "/",
    headers: { host: url.host, "content-type": "application/x-www-form-urlencoded" },
    body,
  });
  const answer = await fetch(url, { method: "POST", headers: signed.headers, body });
  if (!answer.ok) throw new Error(`calling IAM: ${answer.status} ${await answer.text()}`);
}
