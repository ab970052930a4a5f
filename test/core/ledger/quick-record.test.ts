import assert from "node:assert/strict";
import { test } from "node:test";
import { readQuickly } from "../../../src/core/ledger/quick-record.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { post } from "../../helpers/gate/gate.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { forSums } from "../../helpers/ledger/summable.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";
import { respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";

const PROCESS = { pid: 4711, executable: "/usr/bin/node", parents: ["bash", "größer"] };

test("what the recorder writes is read quickly, and is what a parser reads", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithMessage);
  await (await post(gate, "/v1/messages", { model: "claude-sonnet-5" })).text();
  const written = await gate.ledger.only();
  for (const record of [
    written,
    { ...written, process: PROCESS, branch: "main", billed_usd: "0.0012" },
    usageRecord({ server_tools: { web_search: 2 } }),
  ]) {
    const line = JSON.stringify(record);
    const quick = readQuickly(line);
    assert.ok(quick !== null, line);
    assert.deepEqual({ ...quick }, forSums(record));
  }
});

function read(changes: Partial<UsageRecord>) {
  return readQuickly(JSON.stringify(usageRecord(changes)));
}

test("of the service's own usage only what decides a price is read, and of its tools those that were called", () => {
  const loop = { iterations: [{ type: "message", input_tokens: 3 }] };
  const audio = { input_tokens_details: { audio_tokens: 7 } };
  assert.deepEqual(read({ raw_usage: loop })?.raw_usage, loop);
  assert.deepEqual(read({ raw_usage: audio })?.raw_usage, audio);
  assert.equal(read({ raw_usage: { input_tokens: 3 } })?.raw_usage, null);
  assert.deepEqual(read({ server_tools: { web_search: 0, web_fetch: 10 } })?.server_tools, {
    web_search: 0,
    web_fetch: 10,
  });
  assert.deepEqual(read({ server_tools: { web_search: 0 } })?.server_tools, {});
});

test("a record of an earlier release, which lacks members, is read quickly", () => {
  const { branch: _branch, attempt_of: _attempt, alias: _alias, ...earlier } = usageRecord();
  const quick = readQuickly(JSON.stringify(earlier));
  assert.deepEqual(
    [quick?.branch, quick?.attempt_of, quick?.alias, quick?.key],
    [null, null, null, "default"],
  );
});

for (const [what, changes] of Object.entries<Partial<UsageRecord>>({
  "an escape": { session: 'a "quoted" session' },
  "extra tokens": { extra: [extraTokens({ type: "message", model: "m", billable: true })] },
  "a count of 16 digits": { tokens: tokens({ output: 1_234_567_890_123_456 }) },
})) {
  test(`a record with ${what} is left to the parser`, () => {
    assert.equal(readQuickly(JSON.stringify(usageRecord(changes))), null);
  });
}

test("a record of another version, and what is not a record, are left to the parser", () => {
  const line = JSON.stringify(usageRecord());
  for (const text of ["", "{}", line.replace('"v":2', '"v":3'), `${line} `, line.slice(0, -1), `${line}}`])
    assert.equal(readQuickly(text), null, text.slice(0, 20));
});
