/** What we ask of the cloud about instances, in our own words. */

export interface Instance {
  readonly id: string;
  readonly state: "pending" | "running" | "shutting-down" | "terminated" | "stopping" | "stopped";
  readonly tags: Readonly<Record<string, string>>;
}

export interface Instances {
  /**
   * Those of `ids` that the cloud lists, all pages and all reservations. An id that isn't listed is missing from the
   * answer, which is no error.
   * @throws InstancesUnavailable when throttled, denied or out of reach: "denied" is never "not found".
   */
  listInstances(ids: readonly string[]): Promise<readonly Instance[]>;
}

export class InstancesUnavailable extends Error {
  override readonly name = "InstancesUnavailable";
}
