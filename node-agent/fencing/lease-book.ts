/**
 * Writes the agent's statement into its Lease. A write that nobody answered may be carried out later: so each is bound
 * to the version and the life (uid) of the Lease that was read before, and after a failure the Lease is read again. A
 * late "armed" can then never lie over a newer "not armed", nor bring back a Lease that was deleted.
 */
import {
  FENCING_ANNOTATION,
  FENCING_LEASE_NAMESPACE,
  type FencingStatement,
} from "../../shared/domain/fencing-lease.ts";
import { parseJson } from "../../shared/domain/parse-json.ts";
import type { ApiAnswer, ApiRequest, ApiServer } from "../api-server.ts";
import { fieldsOf, textOf, textsOf } from "./fields.ts";
import type { RenewalFailure } from "./words.ts";

export type Renewal =
  | { readonly kind: "accepted"; readonly sentAtMs: number }
  | { readonly kind: "failed"; readonly reason: RenewalFailure; readonly because: string };

export interface LeaseBook {
  renew(statement: FencingStatement): Promise<Renewal>;
}

export interface LeaseBookParts {
  readonly api: Pick<ApiServer, "call">;
  readonly nodeName: string;
  /** Uid of the Node, so that the Lease goes with it; undefined while it isn't known. */
  readonly nodeUid: () => string | undefined;
  /** For a whole renewal, reading included. */
  readonly timeoutMs: number;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
}

interface Known {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${FENCING_LEASE_NAMESPACE}/leases`;
/** For people who read the Lease; who fences counts by its own rule. */
const LEASE_SECONDS = 60;
const MAX_REASON_CHARACTERS = 300;

export function createLeaseBook({ api, nodeName, nodeUid, timeoutMs, nowMs }: LeaseBookParts): LeaseBook {
  const path = `${LEASES}/${encodeURIComponent(nodeName)}`;
  let known: Known | undefined;

  return {
    async renew(statement) {
      const endMs = nowMs() + timeoutMs;
      const call = (asked: Omit<ApiRequest, "timeoutMs">) =>
        api.call({ ...asked, timeoutMs: Math.max(1, Math.ceil(endMs - nowMs())) });

      if (known === undefined) {
        const found = await read();
        if ("kind" in found) return found;
        known = found;
      }
      const base = known;
      known = undefined;
      const sentAtMs = nowMs();
      const answer = await call({ method: "PUT", path, body: documentOf(statement, base) });
      // 201 would mean that a Lease was made anew by it: not the one that we read.
      if (answer.kind !== "answered" || answer.status !== 200) return failureOf("renewing the Lease", answer);
      const written = knownFrom(answer.body);
      if (written?.annotations[FENCING_ANNOTATION] !== JSON.stringify(statement))
        return failed("refused", "renewing the Lease: the answer isn't the Lease as it was written");
      known = written;
      return { kind: "accepted", sentAtMs };

      /** The Lease as it is; one that isn't there is made, and is born disarmed: a late create must not claim anything. */
      async function read(): Promise<Known | Renewal> {
        const got = await call({ method: "GET", path });
        const absent = got.kind === "answered" && got.status === 404;
        const born = { ...statement, mode: "notify", armed: false } as const;
        const shown = absent ? await call({ method: "POST", path: LEASES, body: documentOf(born) }) : got;
        const doing = absent ? "creating the Lease" : "reading the Lease";
        if (shown.kind !== "answered" || shown.status !== (absent ? 201 : 200)) return failureOf(doing, shown);
        return knownFrom(shown.body) ?? failed("refused", `${doing}: the answer isn't a Lease`);
      }
    },
  };

  function documentOf(statement: FencingStatement, base?: Known): unknown {
    const uid = nodeUid();
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name: nodeName,
        namespace: FENCING_LEASE_NAMESPACE,
        ...(base && { uid: base.uid, resourceVersion: base.resourceVersion, labels: base.labels }),
        annotations: { ...base?.annotations, [FENCING_ANNOTATION]: JSON.stringify(statement) },
        // As the kubelet does with its own: a Node that is deleted takes its Lease along.
        ownerReferences: uid === undefined ? [] : [{ apiVersion: "v1", kind: "Node", name: nodeName, uid }],
      },
      spec: {
        holderIdentity: statement.agent,
        leaseDurationSeconds: LEASE_SECONDS,
        // MicroTime has six digits: https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#MicroTime
        renewTime: new Date().toISOString().replace("Z", "000Z"),
      },
    };
  }
}

function knownFrom(body: string): Known | undefined {
  const metadata = fieldsOf(fieldsOf(parseJson(body)).metadata);
  const [uid, resourceVersion] = [textOf(metadata.uid), textOf(metadata.resourceVersion)];
  if (uid === undefined || resourceVersion === undefined) return undefined;
  return { uid, resourceVersion, labels: textsOf(metadata.labels), annotations: textsOf(metadata.annotations) };
}

function failureOf(doing: string, answer: ApiAnswer): Renewal {
  if (answer.kind === "unanswered") return failed("unanswered", `${doing}: ${answer.because}`);
  const said = textOf(fieldsOf(parseJson(answer.body)).message) ?? "";
  const because = `${doing}: HTTP ${answer.status} ${said}`.trim().slice(0, MAX_REASON_CHARACTERS);
  return failed(answer.status === 409 ? "conflict" : "refused", because);
}

function failed(reason: RenewalFailure, because: string): Renewal {
  return { kind: "failed", reason, because };
}
