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

/** An Event is worth this much waiting: whoever posts it has a node to drain. */
const EVENT_MS = 1_000;

/** Made once per process; opens no connection before the first request. */
export function connectCluster({ url, ca, token, limits }: ClusterSettings): ClusterConnection {
  const transport = openTransport(ca, limits);
  const posted = new PostedEvents();
  return {
    during: (signal) =>
      clusterOver({
        url,
        token,
        posted,
        send: (request) => transport.send(request, signal),
        sendEvent: (request) => transport.send(request, AbortSignal.any([signal, AbortSignal.timeout(EVENT_MS)])),
      }),
    close: () => transport.close(),
  };
}

interface Carrier {
  readonly url: string;
  readonly token: () => Promise<string>;
  /** Rejects where no answer came. */
  readonly send: PromiseHttpLibrary["send"];
  /** For Events; default: as all else. */
  readonly sendEvent?: PromiseHttpLibrary["send"];
  readonly posted: PostedEvents;
}

/** The port over anything that carries requests to a Kubernetes API. */
export function clusterOver({ url, token, send, sendEvent = send, posted }: Carrier): Cluster {
  const bearer = {
    getName: () => "bearer",
    applySecurityAuthentication: async (request: RequestContext) =>
      request.setHeaderParam("Authorization", `Bearer ${await token()}`),
  };
  const carriedBy = (carrier: PromiseHttpLibrary["send"]) =>
    createConfiguration({
      baseServer: new ServerConfiguration(url.replace(/\/$/, ""), {}),
      httpApi: wrapHttpLibrary({ send: carrier }),
      authMethods: { default: bearer },
    });
  const core = new CoreV1Api(carriedBy(send));
  const policy = new PolicyV1Api(carriedBy(send));
  const events = new CoreV1Api(carriedBy(sendEvent));
  return { ...nodeRequests(core), ...podRequests(core, policy), ...eventRequests(events, posted) };
}
