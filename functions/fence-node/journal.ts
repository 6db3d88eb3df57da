/** Turns facts into log lines and metrics: one info line per decision, dimensions of few values, ids only in logs. */
import type { Logger } from "@aws-lambda-powertools/logger";
import { type Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { FENCING_METRICS } from "../../shared/domain/metrics.ts";
import type { Fact, Note } from "./facts.ts";

export function openJournal(logger: Logger, metrics: Metrics): Note {
  return (fact) => {
    writeLog(fact, logger);
    writeMetrics(fact, metrics);
  };
}

function writeLog(fact: Fact, log: Logger): void {
  const { kind, ...facts } = fact;
  const message = kind.replaceAll("-", " ");
  switch (fact.kind) {
    case "decided":
      log.info("node decided", facts);
      return;
    case "fenced":
      log.info("node fenced", facts);
      return;
    case "observed":
      if (fact.heldBecause === undefined) log.debug("leases observed", facts);
      else log.warn("a brake holds", facts);
      return;
    case "object-deleted":
      log.debug(message, facts);
      return;
    case "run-ended":
      log.info(message, facts);
      return;
    case "fencing-stopped":
    case "deletion-failed":
    case "instance-not-ended":
    case "patch-failed":
    case "event-not-posted":
      log.warn(message, facts);
      return;
    case "pass-failed":
      log.error(message, facts);
      return;
    case "step-failed":
      log.error("step failed", { nodeName: fact.nodeName, error: fact.error });
      return;
  }
}

function writeMetrics(fact: Fact, metrics: Metrics): void {
  // Each is written at once: what waits for the end of an invocation is lost with it.
  const count = (name: string, value = 1) => metrics.singleMetric().addMetric(name, MetricUnit.Count, value);
  switch (fact.kind) {
    case "observed":
      metrics.singleMetric().addMetric(FENCING_METRICS.silentShare, MetricUnit.NoUnit, fact.silentShare);
      count(FENCING_METRICS.suspected, fact.suspected);
      count(FENCING_METRICS.reachable, fact.reachable);
      if (fact.heldBecause !== undefined) count(FENCING_METRICS.heldByBrake);
      return;
    case "pass-failed":
      count(FENCING_METRICS.passesFailed);
      return;
    case "fenced":
      metrics
        .singleMetric()
        .addDimensions({ proof: fact.proof })
        .addMetric(FENCING_METRICS.fenced, MetricUnit.Count, 1);
      return;
    case "decided":
      metrics
        .singleMetric()
        .addDimensions({ decision: fact.decision })
        .addMetric("fencingDecisionsMade", MetricUnit.Count, 1);
      return;
    case "instance-not-ended":
    case "deletion-failed":
    case "step-failed":
      count(FENCING_METRICS.stepsFailed);
      return;
    case "run-ended":
    case "fencing-stopped":
    case "object-deleted":
    case "patch-failed":
    case "event-not-posted":
      return;
  }
}
