/**
 * The port `Cluster` on the Kubernetes API, through the relay or straight at the cluster. Connections outlive an
 * invocation of a function; every request belongs to one and ends with its signal.
 */
import {
  CoreV1Api,
  createConfiguration,
  PolicyV1Api,
  type PromiseHttpLibrary,
  type RequestContext,
  ServerConfiguration,
  wrapHttpLibrary,
} from "@kubernetes/client-node/dist/gen/index.js";
import type { Cluster } from "../ports/cluster.ts";
import { eventRequests, PostedEvents } from "./kube-events.ts";
import { nodeRequests } from "./kube-nodes.ts";
import { podRequests } from "./kube-pods.ts";
import { openTransport, type TransportLimits } from "./kube-transport.ts";

export interface ClusterSettings {
  /** Base URL, https. */
  readonly url: string;
  /** One or more PEM certificates; nothing else is trusted. */
  readonly ca: string;
  /** Bearer token, asked for before each request: keeping it is the giver's business. */
  readonly token: () => Promise<string>;
  /** Other than the default only where a test can't wait. */
  readonly limits?: TransportLimits;
}

export interface ClusterConnection {
  /** The cluster for one invocation: its requests end when `signal` is aborted. */
  during(signal: AbortSignal): Cluster;
  close(): void;
}

/** Made once per process; opens no connection before the first request. */
export function connectCluster({ url, ca, token, limits }: ClusterSettings): ClusterConnection {
  const transport = openTransport(ca, limits);
  const posted = new PostedEvents();
  return {
    during: (signal) => clusterOver({ url, token, posted, send: (request) => transport.send(request, signal) }),
    close: () => transport.close(),
  };
}

interface Carrier {
  readonly url: string;
  readonly token: () => Promise<string>;
  /** Rejects where no answer came. */
  readonly send: PromiseHttpLibrary["send"];
  readonly posted: PostedEvents;
}

/** The port over anything that carries requests to a Kubernetes API. */
export function clusterOver({ url, token, send, posted }: Carrier): Cluster {
  const bearer = {
    getName: () => "bearer",
    applySecurityAuthentication: async (request: RequestContext) =>
      request.setHeaderParam("Authorization", `Bearer ${await token()}`),
  };
  const configuration = createConfiguration({
    baseServer: new ServerConfiguration(url.replace(/\/$/, ""), {}),
    httpApi: wrapHttpLibrary({ send }),
    authMethods: { default: bearer },
  });
  const core = new CoreV1Api(configuration);
  const policy = new PolicyV1Api(configuration);
  return { ...nodeRequests(core), ...podRequests(core, policy), ...eventRequests(core, posted) };
}
