/** Names that no other test of a run has, since one cluster serves a whole suite. */
let count = 0;

export function newName(kind: string): string {
  return `${kind}-${++count}`;
}

export function newInstanceId(): string {
  return `i-${(++count).toString(16).padStart(17, "0")}`;
}
