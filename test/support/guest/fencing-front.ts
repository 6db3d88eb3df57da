/**
 * What stands between a guest and the API server: a TCP front on loopback that can be cut, as a firewall cuts (each try
 * is refused) or as a broken network does (nothing is answered, nothing ends), and healed. It knows nothing of TLS.
 */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface Front extends AsyncDisposable {
  readonly port: number;
  /** Ends what is open, and refuses what comes. */
  refuse(): Promise<void>;
  /** Swallows: what is open or is opened stays so, and no byte gets through in either direction. */
  swallow(): void;
  /** As before the cut. What was swallowed arrives now, as late packets do. */
  heal(): Promise<void>;
}

export async function startFront(upstreamPort: number): Promise<Front> {
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let swallows = false;

  /** In their order, once there is a way. */
  function pass(deed: () => void): void {
    if (swallows) held.push(deed);
    else deed();
  }

  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    from.on("data", (bytes: Buffer) => pass(() => void to.write(bytes)));
    from.on("end", () => pass(() => void to.end()));
    // An error is followed by "close", and that is passed on.
    from.on("error", () => {});
    from.on("close", () => {
      sockets.delete(from);
      pass(() => void to.destroy());
    });
  }

  const accept = (client: Socket) => {
    const upstream = connect({ port: upstreamPort, host: "127.0.0.1", allowHalfOpen: true });
    join(client, upstream);
    join(upstream, client);
  };
  let server = await listen(accept, 0);
  const port = portOf(server);

  async function refuse(): Promise<void> {
    const closed = once(server, "close");
    server.close();
    held.length = 0;
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    port,
    refuse,
    swallow() {
      swallows = true;
    },
    async heal() {
      swallows = false;
      for (const deed of held.splice(0)) deed();
      if (!server.listening) server = await listen(accept, port);
    },
    async [Symbol.asyncDispose]() {
      if (server.listening) await refuse();
    },
  };
}

async function listen(accept: (client: Socket) => void, port: number): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, accept).listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("listening for guests: no TCP address");
  return address.port;
}
