/** What the demo asks of its cluster, whichever kind it is, and the choice between the two. */
import type { DemoOptions } from "./options.ts";
import type { Scene } from "./scene.ts";

export interface DemoCluster extends AsyncDisposable {
  readonly url: string;
  readonly caPem: string;
  /** By which the relay may speak for the functions. */
  readonly relayToken: string;
  /** By which the demo looks at everything. */
  readonly viewerToken: string;
  /** Commands for a person who wants to look too. */
  readonly commands: readonly string[];
}

export async function startDemoCluster(kind: DemoOptions["cluster"], scene: Scene): Promise<DemoCluster> {
  switch (kind) {
    case "embedded":
      return (await import("./embedded-cluster.ts")).startEmbeddedCluster(scene);
    case "real":
      return (await import("./real-cluster.ts")).startRealDemoCluster(scene);
  }
}
