/** Free ports on loopback, for programs that can't be asked which port they took when given 0. */
import { once } from "node:events";
import { createServer } from "node:net";

/** So many different ports that nobody listened on a moment ago. They are held until all are known. */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  try {
    return await Promise.all(
      servers.map(async (server) => {
        server.listen(0, "127.0.0.1");
        await once(server, "listening");
        const address = server.address();
        if (address === null || typeof address === "string") throw new Error("finding a free port: no TCP address");
        return address.port;
      }),
    );
  } finally {
    for (const server of servers) server.close();
  }
}

export async function findFreePort(): Promise<number> {
  const [port] = await findFreePorts(1);
  if (port === undefined) throw new Error("finding a free port: none");
  return port;
}
