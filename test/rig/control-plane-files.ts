/** The files that a Kubernetes control plane of the rig starts with: certificates, keys, tokens, kubeconfig. */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAuthority } from "./pki.ts";

export interface KubeUser {
  readonly name: string;
  /** Besides `system:authenticated`, which the API server adds. */
  readonly groups?: readonly string[];
}

export interface ControlPlaneFiles {
  readonly caPem: string;
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** Signs and checks the tokens of service accounts. */
  readonly accountKeyFile: string;
  readonly accountPublicKeyFile: string;
  readonly tokenFile: string;
  /** By user name. */
  readonly tokens: ReadonlyMap<string, string>;
  /** The administrator's. */
  readonly kubeconfig: string;
}

export const ADMIN: KubeUser = { name: "rig:admin", groups: ["system:masters"] };

export async function writeControlPlaneFiles(
  folder: string,
  url: string,
  users: readonly KubeUser[],
): Promise<ControlPlaneFiles> {
  const authority = await createAuthority();
  // The last is what this machine's loopback is called in a guest.
  const hosts = ["127.0.0.1", "localhost", "kubernetes.default.svc", "10.0.2.2"];
  const serving = await authority.issue({ commonName: "kube-apiserver", hosts });
  const accountKeys = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const tokens = new Map([ADMIN, ...users].map((user) => [user.name, randomBytes(16).toString("hex")]));
  const write = async (name: string, content: string) => {
    const file = join(folder, name);
    await writeFile(file, content, { mode: 0o600 });
    return file;
  };

  return {
    caPem: authority.certPem,
    caFile: await write("ca.pem", authority.certPem),
    certFile: await write("apiserver.pem", serving.certPem),
    keyFile: await write("apiserver-key.pem", serving.keyPem),
    accountKeyFile: await write("accounts-key.pem", accountKeys.privateKey),
    accountPublicKeyFile: await write("accounts.pem", accountKeys.publicKey),
    tokenFile: await write("tokens.csv", [ADMIN, ...users].map((user) => tokenLine(user, tokens)).join("")),
    tokens,
    kubeconfig: await write("kubeconfig.json", kubeconfig(url, authority.certPem, tokens.get(ADMIN.name) ?? "")),
  };
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file */
function tokenLine(user: KubeUser, tokens: ReadonlyMap<string, string>): string {
  return `${tokens.get(user.name)},${user.name},${user.name},"${(user.groups ?? []).join(",")}"\n`;
}

/** JSON is YAML too, so there is nothing to quote. */
function kubeconfig(url: string, caPem: string, token: string): string {
  const ca = Buffer.from(caPem).toString("base64");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "rig", cluster: { server: url, "certificate-authority-data": ca } }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: "rig", context: { cluster: "rig", user: "admin" } }],
    "current-context": "rig",
  });
}
