import assert from "node:assert/strict";
import { test } from "node:test";
import { formatRecord } from "../../../../src/core/ledger/format-record.ts";
import { homeWithLedger } from "../../../helpers/ledger/home-with-ledger.ts";
import { usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { startOtlpReceiver } from "../../../helpers/otlp/otlp-receiver.ts";
import { appendFileSync } from "node:fs";
import { join } from "node:path";

const lines = (count: number) =>
  Array.from({ length: count }, () => `${formatRecord(usageRecord())}\n`).join("");

test("--preview prints the JSON of OTLP without a daemon, a collector or a configuration", async (t) => {
  const { command } = homeWithLedger(t, { "2026-11-21.ndjson": lines(30) });
  const { code, stdout, stderr } = await command("export", "--preview", "--last", "3");
  assert.equal(code, 0, stderr);
  const shown = JSON.parse(stdout) as {
    "/v1/logs": { resourceLogs: { scopeLogs: { logRecords: unknown[] }[] }[] };
  };
  assert.equal(shown["/v1/logs"].resourceLogs[0]?.scopeLogs[0]?.logRecords.length, 3);
  assert.match(stdout, /gen_ai\.client\.inference\.usage\.input_tokens/);
  assert.match(stdout, /"timeUnixNano": "\d+"/);
});

test("--once begins with what is added after the first time, and sends each record once", async (t) => {
  const receiver = await startOtlpReceiver(t);
  const config = { export: { otlp: { endpoint: receiver.endpoint } } };
  const { command, directory } = homeWithLedger(t, { "2026-11-21.ndjson": lines(4) }, config);
  assert.match((await command("export", "--once")).stdout, /Sent 0 records/);
  appendFileSync(join(directory, "2026-11-21.ndjson"), lines(2));
  const waiting = await command("export", "--preview");
  assert.match(waiting.stderr, /sent next/);
  assert.match((await command("export", "--once")).stdout, /Sent 2 records/);
  assert.match((await command("export", "--once")).stdout, /Sent 0 records/);
  assert.equal(receiver.records.size, 2);
});

test("what is wrong is said with the next command", async (t) => {
  const { command } = homeWithLedger(t, {});
  const none = await command("export", "--once");
  assert.equal(none.code, 1);
  assert.match(none.stderr, /names no OpenTelemetry collector\nhint: .*config set export\.otlp\.endpoint/);
  const wrong = await command("export");
  assert.match(wrong.stderr, /--preview, --once and --follow/);
  const last = await command("export", "--once", "--last", "3");
  assert.match(last.stderr, /--last needs a number/);
  for (const words of [
    ["--once", "--since", "2026-11-21T00:00:00Z"],
    ["--follow", "--since", "soon"],
  ])
    assert.match((await command("export", ...words)).stderr, /--since is a time for --follow/);
});
