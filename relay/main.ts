/** Composition root of the relay: reads the environment and the files, wires the parts, starts, and stops on SIGTERM. */
import { once } from "node:events";
import type { Server } from "node:http";
import { relayAudience, stsHost } from "../shared/domain/identity.ts";
import { apiServerAt } from "./api-server.ts";
import { drainOf } from "./drain.ts";
import { type Environment, readEnvironment } from "./env.ts";
import { type IdentityMap, readIdentities } from "./identities.ts";
import { InFlightLimit, RateLimit } from "./limits.ts";
import { createLog, type Log, reasonOf } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { createOps } from "./ops.ts";
import { ROLES, usersOf } from "./permissions.ts";
import { createRelay } from "./server.ts";
import { stsOf } from "./sts.ts";
import { checkCa, checkToken, useCertificate } from "./tls-files.ts";
import { type Verify, verifier } from "./verify.ts";
import { type FileReport, followFiles } from "./watched-files.ts";

try {
  const env = readEnvironment(process.env);
  await main(env, createLog(env.LOG_LEVEL));
} catch (error) {
  createLog("error")("error", "relay did not start", { because: reasonOf(error) });
  process.exit(1);
}

async function main(env: Environment, log: Log): Promise<void> {
  const metrics = createMetrics();
  const report: FileReport = (file, result, because) => {
    metrics.reloads.inc({ file, result });
    log(result === "loaded" ? "info" : "error", `file ${result}`, { file, because });
  };
  const follow = (name: string, paths: readonly string[], use: (...contents: string[]) => void) =>
    followFiles({ name, paths, use }, { everySeconds: env.FILE_CHECK_SECONDS, report });

  const apiServer = apiServerAt(env.KUBE_API_URL);
  await follow("api-ca", [env.KUBE_CA_FILE], (pem = "") => apiServer.useCa(checkCa(pem)));
  await follow("api-token", [env.KUBE_TOKEN_FILE], (text = "") => apiServer.useToken(checkToken(text)));

  let identities: IdentityMap = new Map();
  await follow("identities", [env.IDENTITIES_FILE], (text = "") => {
    identities = readIdentities(text, usersOf(ROLES));
  });

  const relay = createRelay({
    verify: verifierOf(env, metrics, () => identities),
    identities: () => identities,
    roles: ROLES,
    ...{ apiServer, metrics, log },
    limits: {
      maxBodyBytes: env.MAX_BODY_BYTES,
      requestSeconds: env.REQUEST_TIMEOUT_SECONDS,
      watchSeconds: env.WATCH_TIMEOUT_SECONDS,
      requestsPerUser: env.MAX_REQUESTS_PER_USER,
      connectionsPerSource: env.MAX_CONNECTIONS_PER_SOURCE,
    },
  });
  await follow("certificate", [env.TLS_CERT_FILE, env.TLS_KEY_FILE], (cert = "", key = "") =>
    useCertificate(relay, cert, key),
  );

  const drain = drainOf(relay, { delaySeconds: env.SHUTDOWN_DELAY_SECONDS, drainSeconds: env.SHUTDOWN_DRAIN_SECONDS });
  const ops = createOps({
    version: env.RELAY_VERSION,
    metrics,
    notReadyBecause: async () => {
      if (drain.started()) return "shutting down";
      return (await apiServer.isReachable()) ? undefined : "the API server does not answer";
    },
  });
  const ports = { port: await listen(relay, env.PORT, env), opsPort: await listen(ops, env.OPS_PORT, env) };
  log("info", "relay listens", { address: env.LISTEN_ADDRESS, ...ports, version: env.RELAY_VERSION });

  process.once("SIGTERM", () => {
    log("info", "relay drains");
    void drain.run().then(() => {
      log("info", "relay ended");
      process.exit(0);
    });
  });
}

function verifierOf(env: Environment, metrics: Metrics, identities: () => IdentityMap): Verify {
  const sts = { region: env.AWS_REGION, host: stsHost(env.AWS_REGION) ?? "" };
  const perSecond = env.NEW_TOKENS_PER_SOURCE_PER_SECOND;
  const tokensPerSource = () => new RateLimit({ perSecond, burst: 2 * perSecond });
  return verifier({
    sts,
    askSts: stsOf({
      host: sts.host,
      connect: env.STS_CONNECT,
      audience: relayAudience(env.CLUSTER_NAME, env.AWS_REGION),
    }),
    isSomebody: (identity) => identities().has(identity),
    perSource: {
      newTokens: tokensPerSource(),
      badTokens: tokensPerSource(),
      stsCalls: new InFlightLimit(env.STS_CALLS_PER_SOURCE),
    },
    now: () => new Date(),
    observe: {
      stsCall: (outcome) => metrics.stsCalls.inc({ outcome }),
      cacheHit: () => metrics.cacheHits.inc(),
    },
  });
}

async function listen(server: Server, port: number, env: Environment): Promise<number> {
  server.listen(port, env.LISTEN_ADDRESS);
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}
