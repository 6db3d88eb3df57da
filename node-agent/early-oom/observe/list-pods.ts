/** Asks the API for the pods of this node, in small pages: one answer with 250 long pods would take all our memory. */
import type { ApiServer } from "../../api-server.ts";
import { reasonOf } from "../../log.ts";
import type { FactsByPod, PodFacts } from "../words.ts";
import { readPodPage } from "./read-pods.ts";

const PAGE_PODS = 25;
const MAX_PAGES = 40;
const PAGE_MS = 5_000;

export type PodsAnswer =
  | { readonly kind: "listed"; readonly facts: FactsByPod }
  /** What was known before stays true of the pods that it was about. */
  | { readonly kind: "unknown"; readonly because: string };

export async function listPods(api: ApiServer, nodeName: string): Promise<PodsAnswer> {
  const facts = new Map<string, PodFacts>();
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${nodeName}`, limit: String(PAGE_PODS) });
    if (token !== undefined) query.set("continue", token);
    const answer = await api.call({ method: "GET", path: `/api/v1/pods?${query.toString()}`, timeoutMs: PAGE_MS });
    if (answer.kind === "unanswered") return unknown(answer.because);
    if (answer.status !== 200) return unknown(`the API answered ${answer.status}`);
    try {
      const { pods, continueWith } = readPodPage(answer.body);
      for (const pod of pods) facts.set(pod.uid, pod);
      token = continueWith;
    } catch (error) {
      return unknown(reasonOf(error));
    }
    if (token === undefined) return { kind: "listed", facts };
  }
  return unknown(`more than ${MAX_PAGES * PAGE_PODS} pods on one node`);
}

function unknown(because: string): PodsAnswer {
  return { kind: "unknown", because: `listing the pods of this node: ${because}` };
}
