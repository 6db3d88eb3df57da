/** Quantities as Kubernetes writes them: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */

const SUFFIXES: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["m", 1e-3],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
  ["P", 1e15],
  ["E", 1e18],
  ["Ki", 2 ** 10],
  ["Mi", 2 ** 20],
  ["Gi", 2 ** 30],
  ["Ti", 2 ** 40],
  ["Pi", 2 ** 50],
  ["Ei", 2 ** 60],
]);

/** Bytes, a part of one rounded up; undefined where the text is no quantity. */
export function findBytes(quantity: string): number | undefined {
  const [, number, exponent, suffix] =
    /^([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([eE][+-]?[0-9]+)|([a-zA-Z]*))$/.exec(quantity) ?? [];
  const factor = SUFFIXES.get(suffix ?? "");
  if (number === undefined || factor === undefined) return undefined;
  return Math.ceil(Number(`${number}${exponent ?? ""}`) * factor);
}
