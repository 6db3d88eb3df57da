/** The relay in this process between a fake STS and a fake API server, all over real TLS on loopback. */
import { once } from "node:events";
import type { Server } from "node:https";
import { apiServerAt } from "../../../relay/api-server.ts";
import { readIdentities } from "../../../relay/identities.ts";
import { InFlightLimit, RateLimit } from "../../../relay/limits.ts";
import { createLog } from "../../../relay/log.ts";
import { createMetrics, type Metrics } from "../../../relay/metrics.ts";
import { ROLES, type Role, usersOf } from "../../../relay/permissions.ts";
import { createRelay, type RelayParts } from "../../../relay/server.ts";
import { stsOf } from "../../../relay/sts.ts";
import { useCertificate } from "../../../relay/tls-files.ts";
import { verifier } from "../../../relay/verify.ts";
import { relayAudience } from "../../../shared/domain/identity.ts";
import { type Authority, createAuthority } from "../../rig/pki.ts";
import { answerCaller, answerJson, type FakeServer, startFakeServer } from "./fake-server.ts";
import { ACCOUNT, CLUSTER, REGION, STS_HOST } from "./tokens.ts";

export const DRAINER = `arn:aws:sts::${ACCOUNT}:assumed-role/nodekeeper-${CLUSTER}-drain-urgent/session`;
export const FENCER = `arn:aws:sts::${ACCOUNT}:assumed-role/nodekeeper-${CLUSTER}-fence-node/session`;
export const WATCHER = `arn:aws:sts::${ACCOUNT}:assumed-role/watcher/session`;
export const SERVICE_ACCOUNT_TOKEN = "the-relay-s-own-token";
export const SECRET = /k8s-aws-v1|X-Amz|the-relay-s-own-token/;

/** One role of nobody's, to watch with. */
const WATCHERS: Role = {
  name: "watcher",
  users: ["watcher"],
  permissions: [{ group: "", version: "v1", resource: "nodes", namespaced: false, verbs: ["list", "watch"] }],
};
const TABLE = [...ROLES, WATCHERS];
const IDENTITIES = {
  [`aws/${ACCOUNT}/nodekeeper-${CLUSTER}-drain-urgent`]: "nodekeeper:drain-urgent",
  [`aws/${ACCOUNT}/nodekeeper-${CLUSTER}-fence-node`]: "nodekeeper:fence-node",
  [`aws/${ACCOUNT}/watcher`]: "watcher",
};

export interface RelayRig extends AsyncDisposable {
  readonly server: Server;
  readonly port: number;
  readonly authority: Authority;
  readonly sts: FakeServer;
  readonly apiServer: FakeServer;
  readonly metrics: Metrics;
  readonly logLines: string[];
}

export interface RelayRigOptions {
  readonly limits?: Partial<RelayParts["limits"]>;
  /** Default: the shipped table and one user who may watch. */
  readonly roles?: readonly Role[];
  /** A real API server instead of the fake one. */
  readonly kubeApi?: { readonly url: string; readonly ca: string; readonly token: string };
}

export async function startRelayRig(options: RelayRigOptions = {}): Promise<RelayRig> {
  const { limits = {}, roles = TABLE } = options;
  const authority = await createAuthority();
  const sts = await startFakeServer(authority, [STS_HOST], answerCaller(DRAINER));
  const apiServer = await startFakeServer(authority, ["127.0.0.1"], answerJson(200, { kind: "NodeList", items: [] }));
  const metrics = createMetrics();
  const logLines: string[] = [];
  const ca = authority.certPem;
  const fakeApi = { url: `https://127.0.0.1:${apiServer.port}`, ca, token: SERVICE_ACCOUNT_TOKEN };
  const kubeApi = options.kubeApi ?? fakeApi;
  const connect = { host: "127.0.0.1", port: sts.port };
  const toApiServer = apiServerAt(kubeApi.url);
  toApiServer.useCa(kubeApi.ca);
  toApiServer.useToken(kubeApi.token);
  const { certPem, keyPem } = await authority.issue({ commonName: "relay", hosts: ["127.0.0.1"] });

  const identities = readIdentities(JSON.stringify(IDENTITIES), usersOf(TABLE));
  const server = createRelay({
    verify: verifier({
      sts: { region: REGION, host: STS_HOST },
      askSts: stsOf({ host: STS_HOST, connect, audience: relayAudience(CLUSTER, REGION), ca }),
      isSomebody: (identity) => identities.has(identity),
      perSource: {
        newTokens: new RateLimit({ perSecond: 1000, burst: 1000 }),
        badTokens: new RateLimit({ perSecond: 1000, burst: 1000 }),
        stsCalls: new InFlightLimit(20),
      },
      now: () => new Date(),
    }),
    identities: () => identities,
    roles,
    apiServer: toApiServer,
    metrics,
    log: createLog("debug", (line) => logLines.push(line)),
    limits: {
      maxBodyBytes: 1024,
      requestSeconds: 10,
      watchSeconds: 10,
      requestsPerUser: 100,
      connectionsPerSource: 100,
      ...limits,
    },
  });
  useCertificate(server, certPem, keyPem);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    ...{ server, port, authority, sts, apiServer, metrics, logLines },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await apiServer[Symbol.asyncDispose]();
      await sts[Symbol.asyncDispose]();
    },
  };
}
