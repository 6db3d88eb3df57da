/** The logger and the metrics of a function, both named after it and its cluster. */
import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { METRIC_DIMENSIONS, METRICS_NAMESPACE } from "../domain/metrics.ts";

interface Named {
  readonly FUNCTION: string;
  readonly CLUSTER_NAME: string;
}

export function openLogbook({ FUNCTION: serviceName, CLUSTER_NAME: cluster }: Named) {
  return {
    logger: new Logger({ serviceName, persistentKeys: { cluster } }),
    metrics: new Metrics({
      namespace: METRICS_NAMESPACE,
      serviceName,
      defaultDimensions: { [METRIC_DIMENSIONS.cluster]: cluster },
    }),
  };
}
