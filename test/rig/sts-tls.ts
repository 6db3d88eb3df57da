/**
 * TLS in front of the emulator's STS under its real name, `sts.<region>.amazonaws.com`: whoever connects here instead of
 * there can keep to https, Host and certificate check as in production. Only the address differs.
 */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type TLSSocket } from "node:tls";
import type { Emulator } from "./emulator.ts";
import { createAuthority } from "./pki.ts";

export interface StsFront extends AsyncDisposable {
  /** `sts.<region>.amazonaws.com`: for Host, server name and signature. */
  readonly host: string;
  /** `127.0.0.1:<port>`: where to connect. */
  readonly address: string;
  readonly port: number;
  /** The authority that signed its certificate, as text and as a file for NODE_EXTRA_CA_CERTS. */
  readonly caPem: string;
  readonly caFile: string;
  /** Also ends open connections. */
  stop(): Promise<void>;
}

export async function startStsFront(emulator: Pick<Emulator, "endpoint" | "region">): Promise<StsFront> {
  const host = `sts.${emulator.region}.amazonaws.com`;
  const authority = await createAuthority("nodekeeper test STS authority");
  const { certPem, keyPem } = await authority.issue({ commonName: host, hosts: [host] });

  const open = new Set<TLSSocket>();
  const server = createServer({ cert: certPem, key: keyPem }, (client) => {
    open.add(client);
    const upstream = connect(Number(new URL(emulator.endpoint).port), "127.0.0.1");
    client.pipe(upstream).pipe(client);
    client.on("error", () => upstream.destroy());
    client.on("close", () => {
      upstream.destroy();
      open.delete(client);
    });
    upstream.on("error", () => client.destroy()).on("close", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("listening for STS: no TCP address");

  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-sts-"));
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, authority.certPem);
  async function stop(): Promise<void> {
    server.close();
    for (const client of open) client.destroy();
    await rm(folder, { recursive: true, force: true });
  }
  const { port } = address;
  const shared = { host, address: `127.0.0.1:${port}`, port, caPem: authority.certPem, caFile };
  return { ...shared, stop, [Symbol.asyncDispose]: stop };
}
