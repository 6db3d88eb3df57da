/** What an EC2 instance id looks like, and how a Node names its own in `spec.providerID`. */

/** 8 hexadecimal digits for instances from before 2016, 17 since. */
export const INSTANCE_ID_PATTERN = /^i-(?:[0-9a-f]{8}|[0-9a-f]{17})$/;

/**
 * The EC2 instance id at the end of a provider id such as `aws:///eu-west-1b/i-0b662ef9931388ba0`.
 * Undefined for other providers, Fargate, and anything that doesn't end in an instance id.
 */
export function instanceIdOf(providerId: string | undefined): string | undefined {
  if (!providerId?.startsWith("aws://")) return undefined;
  const last = providerId.slice(providerId.lastIndexOf("/") + 1);
  return INSTANCE_ID_PATTERN.test(last) ? last : undefined;
}
