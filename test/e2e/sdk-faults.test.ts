import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRecordHas, startGateWithSandbox } from "../helpers/ledger/sandbox-billing.ts";
import { readSdkError, SDKS, type Sdk, type SdkError } from "../helpers/client/sdks.ts";

async function readError(response: Promise<unknown>): Promise<SdkError> {
  const error = await response.then(
    () => assert.fail("the SDK saw no error"),
    (reason: unknown) => reason,
  );
  return readSdkError(error);
}

const requestIdHeader = ({ route }: Sdk) => (route === "/messages" ? "request-id" : "x-request-id");

for (const sdk of SDKS) {
  test(`${sdk.name} receives an upstream error with its message, its retry-after and its request id`, async (t) => {
    const { gate } = await startGateWithSandbox(t);
    const headers = { "x-sandbox": "error=429" };
    const error = await readError(sdk.complete({ url: gate.url, prompt: "hello", headers, maxRetries: 0 }));
    assert.equal(error.kind, sdk.name.startsWith("AI SDK") ? "APICallError" : "RateLimitError");
    assert.equal(error.status, 429);
    assert.match(error.message, /the sandbox was asked to fail/);
    assert.equal(error.header("retry-after"), "1");
    const expected = {
      status: 429,
      outcome: "error",
      error_type: sdk.route === "/messages" ? "rate_limit_error" : "rate_limit_exceeded",
      usage: "absent",
      tokens: null,
      upstream_request_id: error.header(requestIdHeader(sdk)),
    } as const;
    assertRecordHas(await gate.ledger.only(), expected, sdk.name);
    assert.match(expected.upstream_request_id ?? "", /^req_/);
  });

  test(`a stream that ${sdk.name} aborts is recorded as cut, with the usage until then`, async (t) => {
    const { gate, sandbox } = await startGateWithSandbox(t, { abort: { graceMs: 0 } });
    const controller = new AbortController();
    // Two dozen events at intervals, so that the end is far away when the first one arrives.
    const request = { url: gate.url, prompt: "h".repeat(400), headers: { "x-sandbox": "pace=100" } };
    for await (const text of sdk.stream(request, controller.signal)) {
      assert.notEqual(text, "");
      controller.abort();
    }
    const record = await gate.ledger.only();
    assertRecordHas(record, { outcome: "cut", cut_by: "client", status: 200, stream: true }, sdk.name);
    assert.equal(record.usage, sdk.route === "/messages" ? "partial" : "absent");
    // Messages streams begin with the input tokens. All of the output is billed, so the record is a lower bound.
    const [billed] = sandbox.counts();
    if (sdk.route === "/messages") {
      assert.equal(record.tokens?.input_uncached, billed?.count.input_uncached);
      assert.equal(record.tokens?.output, 1);
    } else {
      assert.equal(record.tokens, null);
    }
    assert.ok((billed?.count.output ?? 0) > 1);
  });
}

for (const sdk of SDKS) {
  test(`${sdk.name} does not retry the refusal for a missing key, which says how to store one`, async (t) => {
    const { gate, sandbox } = await startGateWithSandbox(t);
    gate.keys.values.clear();
    const error = await readError(sdk.complete({ url: gate.url, prompt: "hello" }));
    assert.ok([400, 402].includes(error.status ?? 0), String(error.status));
    assert.match(error.message, /tollkeeper: no key .* Type: tollkeeper key set/);
    assert.equal(error.header("x-tollkeeper-refusal"), "key_missing");
    assertRecordHas(await gate.ledger.only(), { outcome: "rejected", error_type: "key_missing" }, sdk.name);
    assert.deepEqual(sandbox.counts(), []);
  });
}
