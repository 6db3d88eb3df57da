/**
 * Names that the cloud side and the cluster side must agree on without talking to each other: IAM roles,
 * Kubernetes users, and the audience of a token.
 */

/** Functions made from the bundle of drain-node, each for one pace of work. */
export const DRAIN_FUNCTION_NAMES = ["drain-urgent"] as const;

/** Functions that have a role in IAM and a user in Kubernetes of their own. */
export const FUNCTION_NAMES = [...DRAIN_FUNCTION_NAMES, "fence-node"] as const;
export type FunctionName = (typeof FUNCTION_NAMES)[number];

/** Name of the IAM role under which a function runs: at most 64 characters, which is IAM's limit. */
export function roleName(cluster: string, fn: FunctionName | "replay"): string {
  return `nodekeeper-${cluster}-${fn}`;
}

/** The Kubernetes user that the relay impersonates for a function. */
export function kubernetesUser(fn: FunctionName): string {
  return `nodekeeper:${fn}`;
}

/**
 * Value of the signed `x-k8s-aws-id` header. A token for the relay opens nothing else: an EKS endpoint expects
 * the bare cluster name there.
 */
export function relayAudience(cluster: string, region: string): string {
  return `nodekeeper-relay/${cluster}/${region}`;
}

/** Prefix of a bearer token that holds a presigned GetCallerIdentity URL, as in EKS. */
export const TOKEN_PREFIX = "k8s-aws-v1.";
/** Header that binds such a token to one audience. */
export const TOKEN_AUDIENCE_HEADER = "x-k8s-aws-id";

/**
 * The regional host of STS, which every token is signed for and the relay asks; undefined where the region is of no
 * partition we know. https://docs.aws.amazon.com/general/latest/gr/sts.html
 */
export function stsHost(region: string): string | undefined {
  if (!/^[a-z]{2}(-gov)?-[a-z]+-\d{1,2}$/.test(region)) return undefined;
  return `sts.${region}.${region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com"}`;
}
