/** Who is somebody: an assumed role, compared by partition, account and name, and nobody else. */
import { describe, expect, test } from "vitest";
import { identityOf, readIdentities } from "../../../relay/identities.ts";

const ACCOUNT = "123456789012";
const ROLE = "nodekeeper-example-drain-urgent";
const USER = "nodekeeper:drain-urgent";
const KEY = `aws/${ACCOUNT}/${ROLE}`;
const MAP = readIdentities(JSON.stringify({ [KEY]: USER }), [USER]);

function userOf(arn: string, account = ACCOUNT): string | undefined {
  const identity = identityOf({ account, arn });
  return identity === undefined ? undefined : MAP.get(identity);
}

test("the role of a function speaks as its Kubernetes user", () => {
  expect(userOf(`arn:aws:sts::${ACCOUNT}:assumed-role/${ROLE}/nodekeeper-example-drain-urgent`)).toBe(USER);
});

describe("nobody is", () => {
  test.each([
    ["the root of the account", `arn:aws:iam::${ACCOUNT}:root`],
    ["a user", `arn:aws:iam::${ACCOUNT}:user/${ROLE}`],
    ["a federated user", `arn:aws:sts::${ACCOUNT}:federated-user/${ROLE}`],
    ["the role itself, not through a session", `arn:aws:iam::${ACCOUNT}:role/${ROLE}`],
    ["a role with a path in front of its name", `arn:aws:sts::${ACCOUNT}:assumed-role/path/${ROLE}/session`],
    ["a session that carries the name of a role", `arn:aws:sts::${ACCOUNT}:assumed-role/other/${ROLE}/session`],
    ["a role without a session", `arn:aws:sts::${ACCOUNT}:assumed-role/${ROLE}`],
    ["a role with an empty session", `arn:aws:sts::${ACCOUNT}:assumed-role/${ROLE}/`],
    ["another role", `arn:aws:sts::${ACCOUNT}:assumed-role/nodekeeper-example-replay/session`],
    ["a role whose name begins alike", `arn:aws:sts::${ACCOUNT}:assumed-role/${ROLE}-2/session`],
    ["the role in upper case", `arn:aws:sts::${ACCOUNT}:assumed-role/${ROLE.toUpperCase()}/session`],
    ["the role of another cluster", `arn:aws:sts::${ACCOUNT}:assumed-role/nodekeeper-other-drain-urgent/session`],
    ["the role in another partition", `arn:aws-cn:sts::${ACCOUNT}:assumed-role/${ROLE}/session`],
    ["a partition that doesn't exist", `arn:aws-moon:sts::${ACCOUNT}:assumed-role/${ROLE}/session`],
    ["text before the ARN", `x arn:aws:sts::${ACCOUNT}:assumed-role/${ROLE}/session`],
    ["text on a second line", `arn:aws:sts::${ACCOUNT}:assumed-role/${ROLE}/session\nx`],
    ["an empty ARN", ""],
  ])("%s", (_name, arn) => {
    expect(userOf(arn)).toBeUndefined();
  });
  test("a role of the same name in a foreign account", () => {
    expect(userOf(`arn:aws:sts::210987654321:assumed-role/${ROLE}/session`, "210987654321")).toBeUndefined();
  });
  test("a caller whose account and ARN disagree", () => {
    expect(userOf(`arn:aws:sts::${ACCOUNT}:assumed-role/${ROLE}/session`, "210987654321")).toBeUndefined();
  });
});

describe("a file of identities is refused as a whole when", () => {
  test.each([
    ["it is no JSON", "aws: nobody"],
    ["it is a list", "[]"],
    ["a key lacks the account", JSON.stringify({ [`aws/${ROLE}`]: USER })],
    ["a key lacks the partition", JSON.stringify({ [`${ACCOUNT}/${ROLE}`]: USER })],
    ["a key is an ARN", JSON.stringify({ [`arn:aws:iam::${ACCOUNT}:role/${ROLE}`]: USER })],
    ["a key has a role with a path", JSON.stringify({ [`aws/${ACCOUNT}/path/${ROLE}`]: USER })],
    ["a key has a wildcard", JSON.stringify({ [`aws/${ACCOUNT}/nodekeeper-*`]: USER })],
    ["it names a user that the relay may not impersonate", JSON.stringify({ [KEY]: "system:admin" })],
    ["one of two entries is wrong", JSON.stringify({ [KEY]: USER, [`aws/${ACCOUNT}/other`]: "cluster-admin" })],
  ])("%s", (_name, text) => {
    expect(() => readIdentities(text, [USER])).toThrow();
  });
});
