/** Label selectors as Kubernetes writes them (`metav1.LabelSelector`): all requirements must hold. */
import * as z from "zod";

export type LabelMap = Readonly<Record<string, string>>;

const requirement = z.discriminatedUnion("operator", [
  z.strictObject({ key: z.string().min(1), operator: z.enum(["In", "NotIn"]), values: z.array(z.string()).min(1) }),
  z.strictObject({ key: z.string().min(1), operator: z.enum(["Exists", "DoesNotExist"]) }),
]);

export const labelSelector = z
  .strictObject({
    matchLabels: z.record(z.string(), z.string()).default({}),
    matchExpressions: z.array(requirement).default([]),
  })
  .refine((s) => Object.keys(s.matchLabels).length + s.matchExpressions.length > 0, {
    message: "names no label: an empty selector would match every node",
  });

export type LabelSelector = z.infer<typeof labelSelector>;

export function matchesSelector(labels: LabelMap, selector: LabelSelector): boolean {
  const equal = Object.entries(selector.matchLabels).every(([key, value]) => labels[key] === value);
  return equal && selector.matchExpressions.every((one) => meets(labels[one.key], one));
}

function meets(value: string | undefined, one: z.infer<typeof requirement>): boolean {
  switch (one.operator) {
    case "In":
      return value !== undefined && one.values.includes(value);
    case "NotIn":
      return value === undefined || !one.values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}
