/**
 * Takes the place of undici in bundles (an esbuild alias): the generated Kubernetes client names it as its default
 * transport, ours is kube-transport.ts, and undici alone would be a third of the function.
 */

export function fetch(): never {
  throw new Error("sending a request: the bundle has no undici, give the client our transport");
}
