/** The events that become signals, by the queue whose pace they need. A new kind is added here. */
import type { EventDefinition } from "./define-event.ts";
import { spotInterruption } from "./spot-interruption.ts";

/** Minutes count: the urgent queue. */
export const urgentEvents: readonly EventDefinition[] = [spotInterruption];
