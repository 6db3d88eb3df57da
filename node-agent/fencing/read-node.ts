/** Reads the agent's own Node: its labels name its group, its annotations say whether somebody works on it. */
import { parseJson } from "../../shared/domain/parse-json.ts";
import type { ApiServer } from "../api-server.ts";
import { fieldsOf, textOf, textsOf } from "./fields.ts";

export type NodeReading =
  | {
      readonly kind: "read";
      readonly uid: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
    }
  /** `absent`: the API server says that there is no such Node. */
  | { readonly kind: "unread"; readonly absent: boolean; readonly because: string };

export async function readNode(api: Pick<ApiServer, "call">, name: string, timeoutMs: number): Promise<NodeReading> {
  const answer = await api.call({ method: "GET", path: `/api/v1/nodes/${encodeURIComponent(name)}`, timeoutMs });
  if (answer.kind === "unanswered") return unread(answer.because);
  if (answer.status !== 200) return { ...unread(`HTTP ${answer.status}`), absent: answer.status === 404 };
  const metadata = fieldsOf(fieldsOf(parseJson(answer.body)).metadata);
  const uid = textOf(metadata.uid);
  if (uid === undefined || metadata.name !== name) return unread("the answer isn't this Node");
  return { kind: "read", uid, labels: textsOf(metadata.labels), annotations: textsOf(metadata.annotations) };
}

function unread(because: string): NodeReading & { kind: "unread" } {
  return { kind: "unread", absent: false, because: `reading the Node: ${because}` };
}
