/**
 * Writes down all that happens to some objects of a cluster, in its order: an end-to-end suite tells by it what came
 * before what, and that something never happened.
 */
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { createInterface } from "node:readline/promises";
import * as z from "zod";
import type { ControlPlane } from "../rig/control-plane.ts";

/** Longer than any suite. The API server ends a watch by itself after half an hour at the earliest. */
const WATCH_SECONDS = 1_800;
const PATHS = ["/api/v1/nodes", "/api/v1/pods", "/apis/storage.k8s.io/v1/volumeattachments"];

const watchEvent = z.object({
  type: z.enum(["ADDED", "MODIFIED", "DELETED"]),
  object: z.object({
    kind: z.enum(["Node", "Pod", "VolumeAttachment"]),
    metadata: z.object({
      name: z.string(),
      uid: z.string(),
      // One counter for all kinds of objects: https://kubernetes.io/docs/reference/using-api/api-concepts/
      resourceVersion: z.coerce.number(),
      labels: z.record(z.string(), z.string()).default({}),
      annotations: z.record(z.string(), z.string()).default({}),
      deletionTimestamp: z.string().optional(),
    }),
    spec: z
      .object({
        nodeName: z.string().optional(),
        unschedulable: z.boolean().default(false),
        taints: z.array(z.object({ key: z.string(), value: z.string().optional() })).default([]),
      })
      .prefault({}),
  }),
});

type WatchEvent = z.infer<typeof watchEvent>;

export interface Happening {
  readonly type: WatchEvent["type"];
  /** When we heard of it, which is a little later than it was. */
  readonly at: Date;
  readonly object: WatchEvent["object"];
}

export interface Chronicle extends AsyncDisposable {
  /** In the order in which it happened. @throws if something of it was missed. */
  happenings(): readonly Happening[];
}

export async function keepChronicle(plane: ControlPlane): Promise<Chronicle> {
  await using onFailure = new AsyncDisposableStack();
  const stopped = new AbortController();
  onFailure.defer(() => stopped.abort());
  const written: Happening[] = [];
  const faults: string[] = [];

  async function read(path: string, lines: IncomingMessage): Promise<void> {
    try {
      for await (const line of createInterface({ input: lines })) {
        const { type, object } = watchEvent.parse(JSON.parse(line));
        written.push({ type, object, at: new Date() });
      }
      throw new Error("the API server ended it");
    } catch (error) {
      if (!stopped.signal.aborted) faults.push(`watching ${path}: ${String(error)}`);
    }
  }
  const reading = await Promise.all(
    PATHS.map(async (path) => ({ ended: read(path, await watch(path, plane, stopped)) })),
  );

  onFailure.defer(async () => {
    stopped.abort();
    await Promise.all(reading.map(({ ended }) => ended));
  });
  const running = onFailure.move();
  return {
    happenings() {
      if (faults.length > 0) throw new Error(faults.join("; "));
      return written.toSorted((a, b) => revisionOf(a) - revisionOf(b));
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

export function revisionOf({ object }: Happening): number {
  return object.metadata.resourceVersion;
}

async function watch(path: string, plane: ControlPlane, { signal }: AbortController): Promise<IncomingMessage> {
  const asked = request(new URL(`${path}?watch=1&timeoutSeconds=${WATCH_SECONDS}`, plane.url), {
    ca: plane.caPem,
    headers: { Authorization: `Bearer ${plane.adminToken}` },
    agent: false,
    signal,
  });
  asked.end();
  const answered: Promise<IncomingMessage> = new Promise((resolve, reject) => {
    asked.once("response", resolve);
    asked.on("error", reject);
  });
  const response = await answered;
  if (response.statusCode !== 200) throw new Error(`watching ${path}: ${response.statusCode}`);
  return response;
}
