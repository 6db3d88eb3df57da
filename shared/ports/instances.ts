/** What we ask of the cloud about instances, in our own words. */

export interface Instance {
  readonly id: string;
  readonly state: "pending" | "running" | "shutting-down" | "terminated" | "stopping" | "stopped";
  readonly tags: Readonly<Record<string, string>>;
  /** Bought on the spot market, which doesn't let every instance be stopped. */
  readonly isSpot: boolean;
}

export interface Instances {
  /**
   * Those of `ids` that the cloud lists, all pages and all reservations. An id that isn't listed is missing from the
   * answer, which is no error.
   * @throws InstancesUnavailable when throttled, denied or out of reach: "denied" is never "not found".
   */
  listInstances(ids: readonly string[]): Promise<readonly Instance[]>;
}

/** What is asked for where a node must be dead for certain. */
export interface StoppableInstances extends Instances {
  /**
   * Asks the cloud to end an instance by force, without waiting for its operating system. Accepted is not done: only its
   * state says that it is. Asking twice is the same.
   * @param how `stop` keeps the instance and its volumes, `terminate` doesn't.
   * @throws InstancesUnavailable when throttled, denied, out of reach or not found.
   */
  endInstance(id: string, how: "stop" | "terminate"): Promise<void>;
}

/** Tag that Auto Scaling puts on each instance of a group: a stopped one would be replaced, or started again. */
export const SCALING_GROUP_TAG = "aws:autoscaling:groupName";

export class InstancesUnavailable extends Error {
  override readonly name = "InstancesUnavailable";
}
