/**
 * What an agent tells on the node's loopback: plain HTTP for the kubelet's liveness probe, a scraper and a person.
 * Nothing can be changed through it.
 */
import { createServer } from "node:http";

/** Kubelet, scraper and a few people; whoever opens more costs us neither memory nor handles. */
const MAX_CONNECTIONS = 20;
const REQUEST_MS = 5_000;

export interface OpsAnswer {
  readonly status: number;
  readonly body: string;
}

export interface OpsServer {
  readonly port: number;
  close(): void;
}

/** Answers from memory, by path, such as `/healthz`: no path may wait for anything. */
export type OpsPaths = Readonly<Record<string, () => OpsAnswer>>;

/** @param port 0 takes a free one. @throws where the port is taken. */
export async function serveOps(port: number, paths: OpsPaths): Promise<OpsServer> {
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    const answer = Object.hasOwn(paths, path) ? paths[path]?.() : undefined;
    const { status, body } = answer ?? { status: 404, body: `not found; there is ${Object.keys(paths).join(", ")}\n` };
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(body);
  });
  server.maxConnections = MAX_CONNECTIONS;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // `on`: what goes wrong with one caller's connection later must not end the agent, which has more important work.
  server.on("error", reject).listen(port, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("listening on loopback: no port was given");
  return { port: address.port, close: () => server.close() };
}

export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly kind: "gauge" | "counter";
  readonly values: readonly { readonly labels?: Readonly<Record<string, string>>; readonly value: number }[];
}

/** Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function metricsText(gauges: readonly Gauge[]): string {
  return gauges
    .map(({ name, help, kind, values }) => {
      const lines = values.map(({ labels = {}, value }) => `${name}${labelText(labels)} ${value}\n`);
      return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join("")}`;
    })
    .join("");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${value.replace(/[\\"\n]/g, "_")}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
