/**
 * The labels, annotations and taints that nodekeeper writes on cluster objects, and the foreign ones it reads.
 * One place, since functions, relay and operators must agree on them letter by letter.
 */

/** Label on a Node: its EC2 instance id. Under the node-restriction prefix a kubelet can't set it on itself. */
export const INSTANCE_ID_LABEL = "nodekeeper.node-restriction.kubernetes.io/instance-id";

/** Annotation on a Node: `<signal kind>/<signal id>` that cordoned it. We lift only cordons that carry it. */
export const CORDONED_BY_ANNOTATION = "nodekeeper.dev/cordoned-by";

/** Label on a Node: `involuntary` or `voluntary` while a drain is under way, `drained` when it was seen empty. */
export const DRAINING_LABEL = "nodekeeper.dev/draining";

/** Annotation on a Node: the drain record (JSON, see drain-record.ts), what an operator reads. */
export const DRAIN_ANNOTATION = "nodekeeper.dev/drain";

/** Taint on a Node that is interrupted; its value is the kind of signal. */
export const INTERRUPTION_TAINT = "nodekeeper.dev/interruption";

/** Label by which Karpenter marks its nodes: it drains its own, so they are ignored by default. */
export const KARPENTER_NODEPOOL_LABEL = "karpenter.sh/nodepool";

/** Annotation that the kubelet puts on the mirror of a static pod. */
export const MIRROR_POD_ANNOTATION = "kubernetes.io/config.mirror";

/** Where the relay runs, and the label of its pods: a drain takes them last. */
export const RELAY_NAMESPACE = "nodekeeper";
export const RELAY_POD_LABEL = { key: "app.kubernetes.io/name", value: "nodekeeper-relay" } as const;

/**
 * Annotations on a Node that say "somebody works on it": while one of them is there the fencing-agent disarms its dog
 * and nothing is fenced. Ours, and those of the Deckhouse platform.
 */
export const PAUSED_ANNOTATION = "nodekeeper.dev/paused";
export const MAINTENANCE_ANNOTATIONS = [
  PAUSED_ANNOTATION,
  "node-manager.deckhouse.io/fencing-disable",
  "update.node.deckhouse.io/approved",
  "update.node.deckhouse.io/disruption-approved",
] as const;

/** Label on a Node whose fencing-agent has armed the watchdog, as the Deckhouse platform names it. */
export const FENCING_ENABLED_LABEL = "node-manager.deckhouse.io/fencing-enabled";

/** Where kubelets renew their Leases, each under the name of its node. */
export const KUBELET_LEASE_NAMESPACE = "kube-node-lease";

/** What fence-node has observed of Leases that stand still, kept from one run to the next. */
export const FENCING_CONFIG_MAP = { namespace: "nodekeeper", name: "fencing" } as const;
