/** Reads what a relay counted, from its Prometheus endpoint. */

export interface CountedRequest {
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly code: string;
  readonly count: number;
}

export async function countedRequests(opsUrl: string): Promise<readonly CountedRequest[]> {
  const answer = await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(5_000) });
  const lines = (await answer.text()).split("\n");
  return lines.flatMap((line) => {
    const found = /^nodekeeper_relay_requests_total\{(.*)\} (\d+)$/.exec(line);
    if (!found) return [];
    const labels = Object.fromEntries(
      [...(found[1] ?? "").matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
    );
    const { user = "", verb = "", resource = "", code = "" } = labels;
    return [{ user, verb, resource, code, count: Number(found[2]) }];
  });
}
