/**
 * The ports of instances on EC2. Its client is loaded with the first question: most invocations never ask, and it would
 * be a third of the bundle to read at every cold start.
 */
import type { EC2Client, EC2ClientConfig, Instance as Ec2Instance } from "@aws-sdk/client-ec2";
import { type Instance, InstancesUnavailable, type StoppableInstances } from "../ports/instances.ts";

/** EC2 allows 200 values of a filter. */
const IDS_PER_CALL = 200;
const PAGE_SIZE = 1_000;
const MAX_PAGES = 10;
const CONNECT_MS = 1_000;
const ANSWER_MS = 3_000;
const MAX_ATTEMPTS = 2;
/** For a whole question: the nodes of the same batch wait for its answer. */
const QUESTION_MS = 2_500;
const STATES: readonly Instance["state"][] = [
  "pending",
  "running",
  "shutting-down",
  "terminated",
  "stopping",
  "stopped",
];

/** Endpoint and credentials only where EC2 is played by something else, in tests. */
export type Ec2Settings = { readonly region: string } & Pick<EC2ClientConfig, "endpoint" | "credentials">;

/**
 * `signal` ends the questions of an invocation. The list is filtered by id, and not asked for by id: an id that EC2
 * doesn't know would make the whole question an error.
 */
export function ec2Instances(settings: Ec2Settings): { during(signal: AbortSignal): StoppableInstances } {
  let client: Promise<Ec2> | undefined;
  const open = () => {
    client ??= loadEc2(settings).catch((error: unknown) => {
      client = undefined;
      throw error;
    });
    return client;
  };
  return {
    during: (signal) => {
      const inTime = () => AbortSignal.any([signal, AbortSignal.timeout(QUESTION_MS)]);
      return {
        listInstances: async (ids) =>
          ids.length === 0 ? [] : asking("describing instances", async () => describeAll(await open(), ids, inTime())),
        endInstance: (id, how) =>
          asking(`asking to ${how} ${id}`, async () => end(await open(), { id, how }, inTime())),
      };
    },
  };
}

async function asking<T>(doing: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new InstancesUnavailable(`${doing}: ${nameOf(error)}`, { cause: error });
  }
}

type Ec2 = { readonly client: EC2Client; readonly sdk: typeof import("@aws-sdk/client-ec2") };

async function loadEc2(settings: Ec2Settings): Promise<Ec2> {
  const sdk = await import("@aws-sdk/client-ec2");
  // Without the last of them a late answer is only warned about.
  const requestHandler = { connectionTimeout: CONNECT_MS, requestTimeout: ANSWER_MS, throwOnRequestTimeout: true };
  return { sdk, client: new sdk.EC2Client({ ...settings, requestHandler, maxAttempts: MAX_ATTEMPTS }) };
}

async function describeAll(ec2: Ec2, ids: readonly string[], inTime: AbortSignal): Promise<Instance[]> {
  const found: Instance[] = [];
  for (let at = 0; at < ids.length; at += IDS_PER_CALL) {
    found.push(...(await describe(ec2, ids.slice(at, at + IDS_PER_CALL), inTime)));
  }
  return found;
}

async function describe({ client, sdk }: Ec2, ids: readonly string[], abortSignal: AbortSignal): Promise<Instance[]> {
  const found: Instance[] = [];
  let next: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const question = new sdk.DescribeInstancesCommand({
      Filters: [{ Name: "instance-id", Values: [...ids] }],
      MaxResults: PAGE_SIZE,
      NextToken: next,
    });
    const page = await client.send(question, { abortSignal });
    found.push(...(page.Reservations ?? []).flatMap(({ Instances = [] }) => Instances.map(toInstance)));
    next = page.NextToken;
    if (next === undefined) return found;
  }
  throw new Error(`more than ${MAX_PAGES} pages for ${ids.length} instances`);
}

type Ending = { readonly id: string; readonly how: "stop" | "terminate" };

/**
 * Whoever is asked is silent: a graceful shutdown would only be waited for in vain.
 * https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_TerminateInstances.html
 */
async function end({ client, sdk }: Ec2, { id, how }: Ending, abortSignal: AbortSignal): Promise<void> {
  const asked = { InstanceIds: [id], SkipOsShutdown: true };
  switch (how) {
    case "stop":
      await client.send(new sdk.StopInstancesCommand({ ...asked, Force: true }), { abortSignal });
      return;
    case "terminate":
      await client.send(new sdk.TerminateInstancesCommand(asked), { abortSignal });
      return;
  }
}

function toInstance({ InstanceId: id, State, InstanceLifecycle, Tags = [] }: Ec2Instance): Instance {
  const state = STATES.find((one) => one === State?.Name);
  if (id === undefined || state === undefined) throw new Error(`reading an instance: state ${State?.Name}`);
  const tags = Object.fromEntries(Tags.map(({ Key = "", Value = "" }) => [Key, Value]));
  return { id, state, tags, isSpot: InstanceLifecycle === "spot" };
}

/** `UnauthorizedOperation`, `RequestLimitExceeded`: the name says it, the message may hold an encoded request. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
