import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { formatRecord } from "../../../../src/core/ledger/format-record.ts";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { startDaemonWithUpstream } from "../../../helpers/daemon/daemon-with-upstream.ts";
import { METRICS } from "../../../helpers/gate/metrics.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { homeWithLedger } from "../../../helpers/ledger/home-with-ledger.ts";
import { usageRecord } from "../../../helpers/ledger/usage-record.ts";

const line = (changes = {}) => `${formatRecord(usageRecord({ model: "gpt-5.4", ...changes }))}\n`;
const usageLines = (text: string) =>
  text.split("\n").filter((one) => /^(?:gen_ai|tollkeeper_(?:requests|cost|priced))/.test(one));

test("without a daemon, counts the ledger, and says that none runs", async (t) => {
  const { command } = homeWithLedger(t, { "2026-11-21.ndjson": line() + line() });
  const { code, stdout, stderr } = await command("metrics");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^gen_ai_client_inference_usage_input_tokens_total\{[^}]*\} 20$/m);
  assert.match(stdout, /^tollkeeper_priced_requests_total\{[^}]*tollkeeper_certainty="exact"\} 2$/m);
  assert.match(stdout, /^tollkeeper_up 0$/m);
});

test("prints what the daemon tells Prometheus, and goes on from there when it has ended", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, undefined, { config: { export: { metrics: {} } } });
  await (await post(daemon, "/v1/messages", { model: "claude-sonnet-5", messages: [] })).text();
  const scraped = await (await fetch(daemon.url + METRICS)).text();
  const { stdout } = await daemon.command("metrics");
  assert.deepEqual(usageLines(stdout), usageLines(scraped));
  assert.match(stdout, /^tollkeeper_up 1$/m);
  await daemon.stop();
  const afterwards = await daemon.command("metrics");
  assert.deepEqual(usageLines(afterwards.stdout), usageLines(scraped));
  assert.match(afterwards.stdout, /^tollkeeper_up 0$/m);
});

test("with a daemon whose metrics are off, counts the ledger itself, and leaves no file", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t);
  await (await post(daemon, "/v1/messages", { model: "claude-sonnet-5", messages: [] })).text();
  assert.equal((await fetch(daemon.url + METRICS)).status, 404);
  const { stdout } = await daemon.command("metrics");
  assert.match(stdout, /^tollkeeper_requests_total\{[^}]*tollkeeper_outcome="completed"\} 1$/m);
  assert.match(stdout, /^tollkeeper_up 1$/m);
  assert.equal(new Set(stdout.match(/^# TYPE .*$/gm)).size, stdout.match(/^# TYPE .*$/gm)?.length);
  assert.ok(!readdirSync(join(daemon.home, "state", "tollkeeper")).includes("metrics.json"));
});

test("metrics are switched on and off while the daemon runs, and count what was recorded meanwhile", async (t) => {
  const daemon = await startDaemon(t, { config: {} });
  const ask = () => fetch(daemon.url + METRICS);
  const send = async () =>
    void (await (await post(daemon, "/v1/responses", { model: "gpt-5", input: "x" })).text());
  assert.equal((await ask()).status, 404);
  await send();
  assert.equal((await daemon.command("config", "set", "export.metrics", "{}")).code, 0);
  await daemon.waitForOutput(/the new configuration is in force/);
  const first = await ask();
  assert.equal(first.status, 200);
  assert.match(await first.text(), /^tollkeeper_sandbox_requests_total\{[^}]*\} 1$/m);
});

test("--output replaces a file at once, which everyone may read", async (t) => {
  const { command, home } = homeWithLedger(t, { "2026-11-21.ndjson": line() });
  const file = join(home, "tollkeeper.prom");
  for (let round = 0; round < 2; round += 1) {
    const { code, stdout } = await command("metrics", "--output", file);
    assert.deepEqual([code, stdout], [0, ""]);
  }
  assert.match(readFileSync(file, "utf8"), /^tollkeeper_up 0$/m);
  assert.equal(statSync(file).mode & 0o777, 0o644);
  assert.deepEqual(
    readdirSync(home).filter((name) => name.startsWith("tollkeeper.prom")),
    ["tollkeeper.prom"],
  );
  const missing = join(home, "no-such-directory");
  const { code, stderr } = await command("metrics", "--output", join(missing, "x.prom"));
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: cannot write the metrics: .*\nhint: its directory is missing\n +to make it, type: sudo install -d -o \S+ \S+\n/,
  );
  assert.ok(stderr.includes(` ${missing}\n`), stderr);
});
