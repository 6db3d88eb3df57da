/** What a stand-in of EC2 can't show: several pages, throttling, a missing permission. */
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { ec2Instances } from "../../../shared/adapters/ec2-instances.ts";
import { InstancesUnavailable } from "../../../shared/ports/instances.ts";

interface Reply {
  readonly code: number;
  readonly xml: string;
}

/** The question is never answered. */
const SILENCE: Reply = { code: 0, xml: "" };

/** EC2 by a function from the fields of a question to XML; gives the port and the questions so far. */
async function open(reply: (question: URLSearchParams) => Reply, signal = new AbortController().signal) {
  const questions: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const question = new URLSearchParams(body);
      questions.push(question);
      const { code, xml } = reply(question);
      if (code === SILENCE.code) return;
      response.writeHead(code, { "Content-Type": "text/xml" }).end(xml);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const endpoint = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return { questions, instances: ec2Instances({ region: "eu-west-1", endpoint, credentials }).during(signal) };
}

function page(ids: readonly string[], next = ""): Reply {
  const items = ids.map((id) => {
    const instance = `<item><instanceId>${id}</instanceId><instanceState><name>running</name></instanceState></item>`;
    return `<item><instancesSet>${instance}</instancesSet></item>`;
  });
  const token = next && `<nextToken>${next}</nextToken>`;
  const xml = `<DescribeInstancesResponse><reservationSet>${items.join("")}</reservationSet>${token}</DescribeInstancesResponse>`;
  return { code: 200, xml };
}

function failure(code: number, name: string): Reply {
  const xml = `<Response><Errors><Error><Code>${name}</Code><Message>no</Message></Error></Errors></Response>`;
  return { code, xml };
}

test("all pages and all reservations are read", async () => {
  const { instances, questions } = await open((question) =>
    question.get("NextToken") === null
      ? page(["i-00000000000000001", "i-00000000000000002"], "more")
      : page(["i-00000000000000003"]),
  );
  const found = await instances.listInstances(["i-00000000000000001"]);
  expect(found.map(({ id }) => id)).toEqual(["i-00000000000000001", "i-00000000000000002", "i-00000000000000003"]);
  expect(questions).toHaveLength(2);
});

test("a list that never ends is an error", async () => {
  const { instances, questions } = await open(() => page([], "more"));
  await expect(instances.listInstances(["i-00000000000000001"])).rejects.toThrow(InstancesUnavailable);
  expect(questions).toHaveLength(10);
});

test("ids are a filter, so that one that EC2 doesn't know is no error", async () => {
  const { instances, questions } = await open(() => page([]));
  expect(await instances.listInstances(["i-00000000000000001"])).toEqual([]);
  expect(questions[0]?.get("Filter.1.Name")).toBe("instance-id");
  expect([...(questions[0]?.keys() ?? [])].some((key) => key.startsWith("InstanceId"))).toBe(false);
});

test.each([
  [503, "RequestLimitExceeded"],
  [403, "UnauthorizedOperation"],
  [500, "InternalError"],
])("an answer %i %s is not an empty list", async (code, name) => {
  const { instances } = await open(() => failure(code, name));
  const error = await instances.listInstances(["i-00000000000000001"]).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InstancesUnavailable);
  expect(error).toMatchObject({ message: `describing instances: ${name}` });
});

test("when the time of the invocation is over, the question ends and is unanswered", async () => {
  const { instances } = await open(() => SILENCE, AbortSignal.timeout(200));
  const start = performance.now();
  await expect(instances.listInstances(["i-00000000000000001"])).rejects.toThrow(InstancesUnavailable);
  expect(performance.now() - start).toBeLessThan(1_500);
});

test.each([
  ["stop", "StopInstances", "true"],
  ["terminate", "TerminateInstances", null],
] as const)("to %s an instance nobody waits for its operating system", async (how, action, force) => {
  const { instances, questions } = await open((question) => ({
    code: 200,
    xml: `<${question.get("Action")}Response/>`,
  }));
  await instances.endInstance("i-00000000000000001", how);
  const [question] = questions;
  expect(question?.get("Action")).toBe(action);
  expect(question?.get("InstanceId.1")).toBe("i-00000000000000001");
  expect(question?.get("SkipOsShutdown")).toBe("true");
  expect(question?.get("Force")).toBe(force);
});

test("an end that isn't allowed says so", async () => {
  const { instances } = await open(() => failure(403, "UnauthorizedOperation"));
  await expect(instances.endInstance("i-00000000000000001", "stop")).rejects.toThrow(
    "asking to stop i-00000000000000001: UnauthorizedOperation",
  );
});
