/** HTTPS servers on loopback that play STS and the API server: each remembers what it was asked and answers as told. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import * as https from "node:https";
import { text } from "node:stream/consumers";
import type { Authority } from "../../rig/pki.ts";

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export type Play = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export interface FakeServer extends AsyncDisposable {
  readonly port: number;
  readonly seen: SeenRequest[];
  /** What is answered from now on. */
  play(how: Play): void;
}

export async function startFakeServer(
  authority: Authority,
  hosts: readonly string[],
  first: Play,
): Promise<FakeServer> {
  const { certPem, keyPem } = await authority.issue({ commonName: "fake server", hosts });
  const seen: SeenRequest[] = [];
  let play = first;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request).catch(() => undefined);
    // Whoever goes away in the middle of a body has said nothing.
    if (body === undefined) return;
    const { method = "", url: target = "", headers, rawHeaders } = request;
    const one = { method, target, headers, rawHeaders, body };
    seen.push(one);
    await play(one, response);
  };
  const server = https.createServer(
    { cert: certPem, key: keyPem },
    (request, response) => void answer(request, response),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    seen,
    play: (how) => {
      play = how;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export function answerJson(status: number, body: unknown): Play {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
}

/** STS in its JSON shape. */
export function answerCaller(arn: string, account = arn.split(":")[4] ?? ""): Play {
  const result = { Account: account, Arn: arn, UserId: "AROAEXAMPLE:session" };
  return answerJson(200, { GetCallerIdentityResponse: { GetCallerIdentityResult: result, ResponseMetadata: {} } });
}

export function answerStsError(status: number, code: string): Play {
  return answerJson(status, { Error: { Code: code, Message: "as the test wants it", Type: "Sender" }, RequestId: "1" });
}
