/** Turns facts into log lines and metrics: one info line per decision, dimensions of few values, ids only in logs. */
import type { Logger } from "@aws-lambda-powertools/logger";
import { type Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { OLDEST_UNFINISHED_METRIC } from "../../shared/domain/metrics.ts";
import { type Signal, signalName } from "../../shared/domain/signal.ts";
import type { Fact, Note } from "./facts.ts";

export function openJournal(logger: Logger, metrics: Metrics): Note {
  return (fact, about) => {
    writeLog(fact, about ? childFor(about, logger) : logger);
    writeMetrics(fact, about, metrics);
  };
}

/** A logger of its own for each signal: keys appended to a shared one would bleed between messages handled side by side. */
function childFor(signal: Signal, logger: Logger): Logger {
  const child = logger.createChild();
  child.appendPersistentKeys({ signal: signalName(signal), instanceId: signal.instanceId });
  return child;
}

function writeLog(fact: Fact, log: Logger): void {
  switch (fact.kind) {
    case "decided": {
      const { decision, nodeName, outcome } = fact;
      log.info("signal decided", { decision, nodeName, because: outcome.because, outcome: outcome.kind });
      return;
    }
    case "settled-at-the-door":
      log.info("message decided", {
        decision: fact.decision,
        because: fact.outcome.because,
        outcome: fact.outcome.kind,
      });
      return;
    case "step-failed":
      log.error("step failed", { error: fact.error });
      return;
    case "messages-unsettled":
      log.error("messages could not be settled", { messageIds: fact.messageIds, error: fact.error });
      return;
    case "cordon-incomplete":
    case "record-left-alone":
    case "pod-failed":
    case "pods-stuck":
    case "event-not-posted":
    case "deleted-past-budget": {
      const { kind, ...facts } = fact;
      log.warn(kind.replaceAll("-", " "), facts);
      return;
    }
    case "received":
    case "cordoned":
    case "eviction-blocked":
    case "emptied": {
      const { kind, ...facts } = fact;
      log.debug(kind.replaceAll("-", " "), facts);
      return;
    }
  }
}

function writeMetrics(fact: Fact, about: Signal | undefined, metrics: Metrics): void {
  // Each is written at once: what waits for the end of an invocation is lost with it.
  const count = (name: string, value = 1) => metrics.singleMetric().addMetric(name, MetricUnit.Count, value);
  const seconds = (name: string, value: number) => metrics.singleMetric().addMetric(name, MetricUnit.Seconds, value);
  switch (fact.kind) {
    case "decided":
      countBy(metrics, "decisionsMade", { decision: fact.decision });
      countBy(metrics, "outcomesReached", { outcome: fact.outcome.kind });
      if (fact.outcome.kind === "again") seconds(OLDEST_UNFINISHED_METRIC, fact.secondsSinceEvent);
      return;
    case "received":
      countBy(metrics, "signalsReceived", { kind: about?.kind ?? "none" });
      return;
    case "settled-at-the-door":
      countBy(metrics, "decisionsMade", { decision: fact.decision });
      countBy(metrics, "outcomesReached", { outcome: fact.outcome.kind });
      return;
    case "cordoned":
      seconds("secondsToCordon", fact.secondsSinceEvent);
      return;
    case "emptied":
      seconds("secondsToEmpty", fact.secondsSinceEvent);
      seconds("secondsLeftAtEnd", fact.secondsLeft);
      return;
    case "deleted-past-budget":
      count("podsDeletedPastBudget");
      return;
    case "eviction-blocked":
      count("evictionsBlocked");
      return;
    case "cordon-incomplete":
      count("cordonsIncomplete");
      return;
    case "pod-failed":
      count("podEvictionsFailed");
      return;
    case "pods-stuck":
      count("podsStuck", fact.pods.length);
      return;
    case "step-failed":
      count("stepsFailed");
      return;
    case "messages-unsettled":
      count("messagesUnsettled", fact.messageIds.length);
      return;
    case "record-left-alone":
    case "event-not-posted":
      return;
  }
}

/** A metric with a dimension of its own beside the default ones (service, cluster). */
function countBy(metrics: Metrics, name: string, dimensions: Readonly<Record<string, string>>): void {
  metrics.singleMetric().addDimensions(dimensions).addMetric(name, MetricUnit.Count, 1);
}
