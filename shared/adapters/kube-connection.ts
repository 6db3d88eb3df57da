/**
 * How ports reach the Kubernetes API, through the relay or straight at the cluster. Connections outlive an invocation of
 * a function; every request belongs to one and ends with its signal.
 */
import {
  type Configuration,
  createConfiguration,
  type PromiseHttpLibrary,
  type RequestContext,
  ServerConfiguration,
  wrapHttpLibrary,
} from "@kubernetes/client-node/dist/gen/index.js";
import { PostedEvents } from "./kube-events.ts";
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

export interface ClusterConnection<Port> {
  /** The cluster for one invocation: its requests end when `signal` is aborted. */
  during(signal: AbortSignal): Port;
  close(): void;
}

/** What carries the requests of a port, and with what. */
export interface Carrier {
  readonly url: string;
  readonly token: () => Promise<string>;
  /** Rejects where no answer came. */
  readonly send: PromiseHttpLibrary["send"];
  /** For Events; default: as all else. */
  readonly sendEvent?: PromiseHttpLibrary["send"];
  readonly posted: PostedEvents;
}

/** An Event is worth this much waiting: whoever posts it has a node to drain. */
const EVENT_MS = 1_000;

/** Opens no connection before the first request. @param over makes the port over what carries its requests. */
export function connect<Port>(
  { url, ca, token, limits }: ClusterSettings,
  over: (carrier: Carrier) => Port,
): ClusterConnection<Port> {
  const transport = openTransport(ca, limits);
  const posted = new PostedEvents();
  return {
    during: (signal) =>
      over({
        url,
        token,
        posted,
        send: (request) => transport.send(request, signal),
        sendEvent: (request) => transport.send(request, AbortSignal.any([signal, AbortSignal.timeout(EVENT_MS)])),
      }),
    close: () => transport.close(),
  };
}

/** For the generated client's APIs: the usual way, and the one for Events. */
export function configurations({ url, token, send, sendEvent = send }: Carrier): {
  readonly usual: Configuration;
  readonly forEvents: Configuration;
} {
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
  return { usual: carriedBy(send), forEvents: carriedBy(sendEvent) };
}
