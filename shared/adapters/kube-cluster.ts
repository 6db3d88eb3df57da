/**
 * The port `Cluster` on the Kubernetes API, through the relay or straight at the cluster. Connections outlive an
 * invocation of a function; every request belongs to one and ends with its signal.
 */
import {
  CoreV1Api,
  createConfiguration,
  PolicyV1Api,
  ServerConfiguration,
  wrapHttpLibrary,
} from "@kubernetes/client-node/dist/gen/index.js";
import type { Cluster } from "../ports/cluster.ts";
import { eventRequests, PostedEvents } from "./kube-events.ts";
import { nodeRequests } from "./kube-nodes.ts";
import { podRequests } from "./kube-pods.ts";
import { openTransport } from "./kube-transport.ts";

export interface ClusterSettings {
  /** Base URL, https. */
  readonly url: string;
  /** One or more PEM certificates; nothing else is trusted. */
  readonly ca: string;
  /** Bearer token, asked for before each request: keeping it is the giver's business. */
  readonly token: () => Promise<string>;
}

export interface ClusterConnection {
  /** The cluster for one invocation: its requests end when `signal` is aborted. */
  during(signal: AbortSignal): Cluster;
  close(): void;
}

/** Made once per process; opens no connection before the first request. */
export function connectCluster({ url, ca, token }: ClusterSettings): ClusterConnection {
  const transport = openTransport(ca);
  const posted = new PostedEvents();
  const baseServer = new ServerConfiguration(url.replace(/\/$/, ""), {});
  const bearer = {
    getName: () => "bearer",
    applySecurityAuthentication: async (request: { setHeaderParam(key: string, value: string): void }) =>
      request.setHeaderParam("Authorization", `Bearer ${await token()}`),
  };
  return {
    during(signal) {
      const configuration = createConfiguration({
        baseServer,
        httpApi: wrapHttpLibrary({ send: (request) => transport.send(request, signal) }),
        authMethods: { default: bearer },
      });
      const core = new CoreV1Api(configuration);
      return {
        ...nodeRequests(core),
        ...podRequests(core, new PolicyV1Api(configuration)),
        ...eventRequests(core, posted),
      };
    },
    close: () => transport.close(),
  };
}
