/** What the port `FencingCluster` keeps in ConfigMaps, as requests to the Kubernetes API. */
import type { CoreV1Api, V1ConfigMap } from "@kubernetes/client-node/dist/gen/index.js";
import type { FencingCluster } from "../ports/fencing-cluster.ts";
import { asClusterError, codeOf } from "./kube-answers.ts";
import { required } from "./kube-objects.ts";

export function configMapRequests(core: CoreV1Api): Pick<FencingCluster, "findConfigMap" | "writeConfigMap"> {
  return {
    async findConfigMap({ namespace, name }) {
      try {
        const map = await core.readNamespacedConfigMap({ namespace, name });
        return { namespace, name, data: map.data ?? {}, resourceVersion: versionOf(map) };
      } catch (error) {
        if (codeOf(error) === 404) return undefined;
        throw asClusterError(error, `reading config map ${namespace}/${name}`);
      }
    },

    async writeConfigMap({ namespace, name, data, resourceVersion }) {
      const isNew = resourceVersion === undefined;
      const body = { metadata: { name, namespace, ...(isNew ? {} : { resourceVersion }) }, data: { ...data } };
      try {
        const written = isNew
          ? await core.createNamespacedConfigMap({ namespace, body })
          : await core.replaceNamespacedConfigMap({ namespace, name, body });
        return { kind: "written", resourceVersion: versionOf(written) };
      } catch (error) {
        // It is gone: whoever deleted it wrote first. A create must not bring it back under the eyes of another run.
        if (codeOf(error) === 409 || (codeOf(error) === 404 && !isNew)) return { kind: "conflict" };
        throw asClusterError(error, `writing config map ${namespace}/${name}`);
      }
    },
  };
}

function versionOf({ metadata }: V1ConfigMap): string {
  return required(metadata?.resourceVersion, "ConfigMap", "resourceVersion");
}
