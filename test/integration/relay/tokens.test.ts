/**
 * Real tokens, signed by the functions' own signer with the credentials of real roles and verified by an STS that
 * checks signatures: the relay as a process, STS under its own name over TLS.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { tokenSource } from "../../../shared/adapters/api-token.ts";
import { relayAudience, roleName, TOKEN_PREFIX } from "../../../shared/domain/identity.ts";
import { type Emulator, startEmulator } from "../../rig/emulator.ts";
import { type Authority, createAuthority } from "../../rig/pki.ts";
import { describeReal } from "../../rig/real-parts.ts";
import { type StsFront, startStsFront } from "../../rig/sts-tls.ts";
import { ask } from "../../support/relay/client.ts";
import { assumeNewRole } from "../../support/relay/emulator-roles.ts";
import { answerJson, type FakeServer, startFakeServer } from "../../support/relay/fake-server.ts";
import { type RelayProgram, startRelayProgram } from "../../support/relay/relay-program.ts";
import { CLUSTER, type Credentials, REGION, tokenFor } from "../../support/relay/tokens.ts";

const AUDIENCE = relayAudience(CLUSTER, REGION);
const DRAINER = roleName(CLUSTER, "drain-urgent");

describeReal("the relay with a real STS", ["emulator"], () => {
  let emulator: Emulator;
  let sts: StsFront;
  let authority: Authority;
  let apiServer: FakeServer;
  let relay: RelayProgram;
  let drainer: Credentials;
  let other: Credentials;

  beforeAll(async () => {
    emulator = await startEmulator({ auth: true });
    sts = await startStsFront(emulator);
    drainer = await assumeNewRole(emulator, DRAINER);
    other = await assumeNewRole(emulator, roleName(CLUSTER, "replay"));
    authority = await createAuthority();
    apiServer = await startFakeServer(authority, ["127.0.0.1"], answerJson(200, {}));
    relay = await startRelayProgram({
      kubeApi: { url: `https://127.0.0.1:${apiServer.port}`, caPem: authority.certPem, token: "token" },
      sts,
      identities: { [`aws/${emulator.account}/${DRAINER}`]: "nodekeeper:drain-urgent" },
    });
  });
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]();
    await apiServer?.[Symbol.asyncDispose]();
    await sts?.stop();
    await emulator?.stop();
  });

  const signed = (credentials: Credentials, audience = AUDIENCE, now = new Date()) =>
    tokenSource({ region: REGION, audience, credentials: () => credentials, clock: { now: () => now } })();
  const statusOf = (token: string) => ask(relay, { token }).then(({ status }) => status);

  test("serves a function under its own user", async () => {
    expect(await statusOf(await signed(drainer))).toBe(200);
    expect(apiServer.seen.at(-1)?.headers["impersonate-user"]).toBe("nodekeeper:drain-urgent");
  });
  test.each([
    ["another cluster's token", () => signed(drainer, relayAudience("other", REGION))],
    ["a token for an EKS endpoint", () => signed(drainer, CLUSTER)],
    ["a token of another role of the account", () => signed(other)],
    ["a token of the account's root", () => signed(emulator.clientConfig.credentials)],
    ["a token of credentials that nobody gave out", () => signed({ ...drainer, secretAccessKey: "guessed" })],
    ["a token that was signed a minute ago", () => signed(drainer, AUDIENCE, new Date(Date.now() - 61_000))],
    [
      "a token whose signature was changed",
      async () => edited(await signed(drainer), (url) => url.replace(/[0-9a-f]$/, flip)),
    ],
    [
      "a token whose expiry was stretched",
      async () => edited(await signed(drainer), (url) => url.replace("Expires=60", "Expires=900")),
    ],
  ])("refuses %s", async (_name, token) => {
    expect(await statusOf(await token())).toBe(401);
  });
  test("goes on with verdicts that it has while STS is away, answers 503 to new callers, and has let out no secret", async () => {
    const known = await signed(drainer, AUDIENCE, new Date(Date.now() - 1_000));
    expect(await statusOf(known)).toBe(200);
    await sts.stop();
    expect(await statusOf(known)).toBe(200);
    // Dates count in seconds: one that no token of this suite can have, or it might be a known one.
    expect(await statusOf(await signed(drainer, AUDIENCE, new Date(Date.now() + 5_000)))).toBe(503);
    expect(JSON.stringify(await relay.log())).not.toMatch(/Signature=|[\w+/=%-]{100}|k8s-aws-v1/);
  });
});

function edited(token: string, edit: (url: string) => string): string {
  const url = Buffer.from(token.slice(TOKEN_PREFIX.length), "base64url").toString();
  const changed = edit(url);
  if (changed === url) throw new Error("nothing was changed");
  return tokenFor(changed);
}

/** Another hexadecimal digit. */
function flip(digit: string): string {
  return digit === "0" ? "1" : "0";
}
