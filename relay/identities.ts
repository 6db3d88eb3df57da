/**
 * Who may speak as which Kubernetes user. The key is partition, account and role name, compared in full: a role of
 * the same name in another account is nobody. Role names are known in advance (shared/domain/identity.ts), so the
 * map needs no deployed stack.
 */
import * as z from "zod";

const PARTITION = "aws(?:-cn|-us-gov)?";
/** https://docs.aws.amazon.com/IAM/latest/APIReference/API_Role.html */
const ROLE_NAME = "[\\w+=,.@-]{1,64}";

/**
 * `arn:aws:sts::<account>:assumed-role/<role>/<session>`: the only kind of caller that can be anybody here. Users,
 * root, federated users and roles that don't act through a session are nobody; STS leaves out a role's path.
 */
const ASSUMED_ROLE = new RegExp(
  `^arn:(?<partition>${PARTITION}):sts::(?<account>\\d{12}):assumed-role/(?<role>${ROLE_NAME})/[\\w+=,.@-]{2,64}$`,
);

/** `<partition>/<account>/<role name>` of an assumed role, undefined for every other kind of identity. */
export function identityOf(caller: { readonly account: string; readonly arn: string }): string | undefined {
  const groups = ASSUMED_ROLE.exec(caller.arn)?.groups;
  if (groups === undefined || groups.account !== caller.account) return undefined;
  return `${groups.partition}/${groups.account}/${groups.role}`;
}

/** Identity (`<partition>/<account>/<role name>`) to Kubernetes user. */
export type IdentityMap = ReadonlyMap<string, string>;

/**
 * Reads the map's file, JSON such as `{"aws/123456789012/nodekeeper-prod-drain-urgent": "nodekeeper:drain-urgent"}`.
 * @param users those that the relay may impersonate; the map can't name another.
 * @throws if anything in it is not understood: half a map would be a riddle.
 */
export function readIdentities(text: string, users: readonly string[]): IdentityMap {
  const schema = z.record(z.string().regex(new RegExp(`^${PARTITION}/\\d{12}/${ROLE_NAME}$`)), z.enum(users));
  const parsed = schema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`reading the identities: ${z.prettifyError(parsed.error)}`);
  return new Map(Object.entries(parsed.data));
}
