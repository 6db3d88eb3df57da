/**
 * The observations between two runs: one ConfigMap, written under the version that was read, so that of two runs at the
 * same time one learns of the other. A version of it that we don't know is left alone.
 */
import * as z from "zod";
import { FENCING_CONFIG_MAP } from "../../../shared/domain/keys.ts";
import { parseJson } from "../../../shared/domain/parse-json.ts";
import type { FencingCluster } from "../../../shared/ports/fencing-cluster.ts";
import { NO_OBSERVATIONS, type Observations, silentSince, worthKeeping } from "../decide/observations.ts";

/** Key in the ConfigMap. */
const DATA_KEY = "observations";
/** A ConfigMap holds 1 MiB. With so many silent nodes the brake holds anyway; the longest silent are kept. */
const MAX_NODES = 2_000;

const time = z.iso.datetime().transform((text) => new Date(text));
const stillLease = z.object({ resourceVersion: z.string(), firstSeenAt: time });
const document = z.object({
  v: z.literal(1),
  holder: z.string(),
  observedAt: time.optional(),
  failedAt: time.optional(),
  nodes: z.record(
    z.string(),
    z.object({
      uid: z.string(),
      agent: stillLease.optional(),
      kubelet: stillLease.optional(),
      observations: z.int().min(1),
      suspectedAt: time.optional(),
    }),
  ),
});

export type Reading =
  | { readonly kind: "read"; readonly observations: Observations; readonly resourceVersion: string | undefined }
  | { readonly kind: "unknown"; readonly because: string };

/** @throws ClusterUnavailable, ClusterRefused */
export async function readObservations(cluster: FencingCluster): Promise<Reading> {
  const map = await cluster.findConfigMap(FENCING_CONFIG_MAP);
  const text = map?.data[DATA_KEY];
  const resourceVersion = map?.resourceVersion;
  if (text === undefined) return { kind: "read", observations: NO_OBSERVATIONS, resourceVersion };
  const parsed = document.safeParse(parseJson(text));
  if (!parsed.success)
    return { kind: "unknown", because: `observations not understood: ${z.prettifyError(parsed.error)}` };
  const { observedAt, failedAt, nodes } = parsed.data;
  const silences = Object.entries(nodes).map(([name, { uid, agent, kubelet, observations, suspectedAt }]) => {
    return [name, { uid, agent, kubelet, observations, suspectedAt }] as const;
  });
  return { kind: "read", observations: { observedAt, failedAt, nodes: new Map(silences) }, resourceVersion };
}

export interface Writing {
  readonly observations: Observations;
  readonly holder: string;
  /** Of what was read; undefined where nothing was. */
  readonly resourceVersion: string | undefined;
}

/** Gives the new version, or undefined where somebody else wrote first. @throws ClusterUnavailable, ClusterRefused */
export async function writeObservations(
  { observations, holder, resourceVersion }: Writing,
  cluster: FencingCluster,
): Promise<string | undefined> {
  const kept = [...worthKeeping(observations)].toSorted(
    ([, a], [, b]) => silentSince(a).getTime() - silentSince(b).getTime(),
  );
  const { observedAt, failedAt } = observations;
  const nodes = Object.fromEntries(kept.slice(0, MAX_NODES));
  const text = JSON.stringify({ v: 1, holder, observedAt, failedAt, nodes });
  const data = { [DATA_KEY]: text };
  const answer = await cluster.writeConfigMap({ ...FENCING_CONFIG_MAP, data, resourceVersion });
  return answer.kind === "written" ? answer.resourceVersion : undefined;
}
