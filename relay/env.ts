/** The relay's settings: environment variables, read once by main.ts; all faults are told together. */
import * as z from "zod";
import { stsHost } from "../shared/domain/identity.ts";
import { LEVELS } from "./log.ts";
import { MAX_STS_CALLS } from "./verify.ts";

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Digits only: a conversion by itself takes "" for 0, and knows 0x10 and 1e3. */
const count = (min: number, max: number) =>
  z.string().regex(/^\d+$/, "must be a whole number in digits").transform(Number).pipe(z.number().min(min).max(max));
const port = count(0, 65_535);

const hostAndPort = z
  .string()
  .regex(/^[A-Za-z0-9.-]+:\d{1,5}$/, "must be host:port")
  .transform((text) => {
    const [host = "", digits = ""] = text.split(":");
    return { host, port: Number(digits) };
  });

const environmentSchema = z
  .object({
    CLUSTER_NAME: z.string().min(1).max(100),
    AWS_REGION: z.string().refine((region) => stsHost(region) !== undefined, "is no region of a known partition"),
    LISTEN_ADDRESS: z.string().min(1).default("127.0.0.1"),
    PORT: port.default(8443),
    OPS_PORT: port.default(8081),
    TLS_CERT_FILE: z.string().min(1).default("/etc/nodekeeper-relay/tls/tls.crt"),
    TLS_KEY_FILE: z.string().min(1).default("/etc/nodekeeper-relay/tls/tls.key"),
    IDENTITIES_FILE: z.string().min(1).default("/etc/nodekeeper-relay/identities/identities.json"),
    KUBE_API_URL: z.url({ protocol: /^https$/ }).optional(),
    KUBERNETES_SERVICE_HOST: z.string().optional(),
    KUBERNETES_SERVICE_PORT: z.string().optional(),
    KUBE_CA_FILE: z.string().min(1).default(`${SERVICE_ACCOUNT}/ca.crt`),
    KUBE_TOKEN_FILE: z.string().min(1).default(`${SERVICE_ACCOUNT}/token`),
    STS_CONNECT: hostAndPort.optional(),
    LOG_LEVEL: z.enum(LEVELS).default("info"),
    RELAY_VERSION: z.string().default("dev"),
    FILE_CHECK_SECONDS: count(1, 300).default(10),
    REQUEST_TIMEOUT_SECONDS: count(1, 300).default(60),
    WATCH_TIMEOUT_SECONDS: count(1, 7_200).default(3_600),
    MAX_BODY_BYTES: count(1, 3 * 1024 * 1024).default(1024 * 1024),
    MAX_REQUESTS_PER_USER: count(1, 10_000).default(256),
    MAX_CONNECTIONS_PER_SOURCE: count(1, 10_000).default(512),
    NEW_TOKENS_PER_SOURCE_PER_SECOND: count(1, 1_000).default(50),
    STS_CALLS_PER_SOURCE: count(1, MAX_STS_CALLS).default(10),
    SHUTDOWN_DELAY_SECONDS: count(0, 300).default(5),
    SHUTDOWN_DRAIN_SECONDS: count(0, 300).default(20),
  })
  .transform((env, context) => {
    const apiUrl = env.KUBE_API_URL ?? inClusterUrl(env.KUBERNETES_SERVICE_HOST, env.KUBERNETES_SERVICE_PORT);
    if (apiUrl === undefined) {
      context.addIssue({ code: "custom", path: ["KUBE_API_URL"], message: "is needed outside a cluster" });
      return z.NEVER;
    }
    return { ...env, KUBE_API_URL: apiUrl };
  });

export type Environment = z.infer<typeof environmentSchema>;

/** @throws one error that names every variable that is missing or wrong. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  const parsed = environmentSchema.safeParse(env);
  if (!parsed.success) throw new Error(`reading the environment:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function inClusterUrl(host: string | undefined, servicePort = "443"): string | undefined {
  if (host === undefined || host === "") return undefined;
  return `https://${host.includes(":") ? `[${host}]` : host}:${servicePort}`;
}
