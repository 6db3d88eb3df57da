/** What a run reports of itself. The story notes facts, the journal turns them into log lines and metrics, a test reads them. */
import type { FencingDecision, HoldReason } from "./decide/fencing.ts";
import type { Proof } from "./decide/proof.ts";

/** Few values: what happens to one node in one pass, as operators know it. */
export type DecisionName = Exclude<FencingDecision["kind"], "hold"> | `hold-${HoldReason}`;

export type Fact =
  | {
      readonly kind: "decided";
      readonly nodeName: string;
      readonly decision: DecisionName;
      readonly because: string;
      /** Nothing of it is done. */
      readonly isDryRun: boolean;
    }
  | {
      readonly kind: "observed";
      readonly nodes: number;
      readonly silentShare: number;
      readonly suspected: number;
      /** Nodes whose kubelet is silent while their agent isn't. */
      readonly reachable: number;
      /** Why nothing was begun for some that are suspected. */
      readonly heldBecause: string | undefined;
    }
  /** The cluster didn't answer, or the observations are of a version that we don't know. */
  | { readonly kind: "pass-failed"; readonly because: string }
  /** Another run writes the observations, or there is no time left. */
  | { readonly kind: "run-ended"; readonly because: string }
  | { readonly kind: "fenced"; readonly nodeName: string; readonly proof: Proof["kind"]; readonly pods: number }
  /** The world moved in the middle: what was left to do isn't done. */
  | { readonly kind: "fencing-stopped"; readonly nodeName: string; readonly because: string }
  | { readonly kind: "deletion-failed"; readonly nodeName: string; readonly object: string; readonly because: string }
  | { readonly kind: "object-deleted"; readonly nodeName: string; readonly object: string }
  | { readonly kind: "instance-not-ended"; readonly nodeName: string; readonly because: string }
  | { readonly kind: "patch-failed"; readonly nodeName: string; readonly because: string }
  | { readonly kind: "event-not-posted"; readonly because: string }
  | { readonly kind: "step-failed"; readonly nodeName: string; readonly error: unknown };

export type Note = (fact: Fact) => void;
