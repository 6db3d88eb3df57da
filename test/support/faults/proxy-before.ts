/** A fault proxy between the relay of an installation and its cluster. */
import { createAuthority } from "../../rig/pki.ts";
import type { InstallationOptions } from "../installation.ts";
import type { RealCluster } from "../real-cluster.ts";
import { type FaultProxy, type FaultProxySettings, startFaultProxy } from "./fault-proxy.ts";

export interface ProxyBefore extends FaultProxy {
  /** For `install`: the way to the cluster through the proxy. */
  readonly kubeApi: InstallationOptions["kubeApi"];
}

export async function startProxyBefore(
  cluster: RealCluster,
  faults: Pick<FaultProxySettings, "rules" | "seed"> = {},
): Promise<ProxyBefore> {
  const authority = await createAuthority();
  const { certPem, keyPem } = await authority.issue({ commonName: "proxy", hosts: ["127.0.0.1"] });
  const proxy = await startFaultProxy({
    upstream: { url: cluster.url, ca: cluster.caPem },
    tls: { cert: certPem, key: keyPem },
    ...faults,
  });
  return { ...proxy, kubeApi: { url: proxy.url, caPem: authority.certPem, token: cluster.relayToken } };
}
