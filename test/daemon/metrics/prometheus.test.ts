// Against the real Prometheus: what it has summed up is what the ledger says, whoever was killed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Daemon } from "../../helpers/daemon/daemon.ts";
import { startKillableDaemon } from "../../helpers/daemon/killable-daemon.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { post } from "../../helpers/gate/gate.ts";
import { METRICS } from "../../helpers/gate/metrics.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import {
  noPrometheus,
  promtool,
  startPrometheus,
  type Prometheus,
} from "../../helpers/prometheus/prometheus.ts";
import {
  MESSAGE_EVENTS,
  sendJson,
  SSE,
  startUpstream,
  type Script,
} from "../../helpers/upstream/scripted-upstream.ts";

/** A priced stream, or an error for every fifth request. */
const respond: Script = ({ body }, res) => {
  const { metadata } = JSON.parse(String(body)) as { metadata: number };
  if (metadata % 5 === 4) return sendJson(res, { type: "error", error: { type: "overloaded_error" } }, 529);
  res.writeHead(200, SSE).end(MESSAGE_EVENTS.join(""));
};

/** A daemon with metrics and prices. */
async function startMeasured(t: TestContext) {
  const upstream = await startUpstream(t, respond);
  const { config } = writeKeyFile(t, upstream.baseUrl, "some-key");
  const prices = { "claude-*": { input: 3, output: 15 } };
  return startKillableDaemon(t, { ...config, prices, export: { metrics: {} } });
}

let sent = 0;

/** Sends so many requests of two tools, at most ten at a time. */
async function sendRequests({ url }: Daemon, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 10) {
    const batch = Array.from({ length: Math.min(10, left) }, async () => {
      sent += 1;
      const body = { model: "claude-sonnet-5", max_tokens: 9, stream: true, metadata: sent, messages: [] };
      const response = await post(
        { url },
        sent % 2 === 0 ? "/t/codex/v1/messages" : "/t/aider/v1/messages",
        body,
      );
      await response.text();
    });
    await Promise.all(batch);
  }
}

/** What the ledger's own report says, and PromQL for the same. */
async function usageOf(daemon: Daemon) {
  const { stdout } = await daemon.command("usage", "--json", "--since", "2000-01-01");
  const { total } = JSON.parse(stdout) as { total: Record<string, number | { usd: string }> };
  return total;
}

const EXPRESSIONS = {
  requests: 'sum(tollkeeper_requests_total{tollkeeper_counted_as="request"})',
  failed: 'sum(tollkeeper_requests_total{tollkeeper_counted_as="failed"})',
  input: "sum(gen_ai_client_inference_usage_input_tokens_total)",
  output: "sum(gen_ai_client_inference_usage_output_tokens_total)",
  cost: "sum(tollkeeper_cost_usd_total)",
  streams: "sum(gen_ai_client_operation_time_to_first_chunk_seconds_count)",
} as const;

async function told(prometheus: Prometheus) {
  const values = Object.entries(EXPRESSIONS).map(
    async ([name, expression]) => [name, await prometheus.value(expression)] as const,
  );
  return Object.fromEntries(await Promise.all(values));
}

/** What records say, summed up here. */
async function recorded(daemon: Daemon) {
  const records = await daemon.ledger();
  const counted = records.filter(({ tokens }) => tokens !== null);
  const sum = (name: "input_total" | "output") =>
    counted.reduce((total, { tokens }) => total + (tokens?.[name] ?? 0), 0);
  const [input, output] = [sum("input_total"), sum("output")];
  return {
    requests: counted.length,
    failed: records.length - counted.length,
    input,
    output,
    cost: (input * 3 + output * 15) / 1_000_000,
    streams: counted.length,
  };
}

test(
  "Prometheus' totals are the ledger's after the daemon and Prometheus were killed",
  { skip: noPrometheus },
  async (t) => {
    const killable = await startMeasured(t);
    const prometheus = await startPrometheus(t, {
      targets: [{ target: `127.0.0.1:${killable.daemon().port}` }],
    });
    const agree = () =>
      waitUntil("Prometheus has what the ledger has", async () => {
        const [one, other] = [await told(prometheus), await recorded(killable.daemon())];
        const near = Object.entries(other).every(
          ([name, value]) => Math.abs((one[name] ?? -1) - value) < 1e-9,
        );
        return near && other.requests > 0 ? other : null;
      });
    await sendRequests(killable.daemon(), 50);
    await agree();
    const sending = sendRequests(killable.daemon(), 200).catch(() => {});
    await killable.killAndRestart();
    await sending;
    await sendRequests(killable.daemon(), 30);
    await agree();
    await prometheus.killAndRestart();
    await sendRequests(killable.daemon(), 30);
    await killable.killAndRestart();
    const { requests } = await agree();
    assert.ok(requests >= 88);
    // No counter of usage has fallen: a fall would be counted as a reset, and all before it again.
    for (const metric of Object.values(EXPRESSIONS).map(
      (expression) => /\w+_(?:total|count)/.exec(expression)?.[0],
    ))
      assert.equal(await prometheus.value(`sum(resets(${metric}[10m]))`), 0, metric);
    const usage = await usageOf(killable.daemon());
    assert.equal(usage["requests"], requests);
  },
);

const usageLines = (text: string) =>
  text.split("\n").filter((line) => /^gen_ai|^tollkeeper_(?:cost|requests)/.test(line));

test("promtool finds nothing wrong with what a daemon tells", { skip: noPrometheus }, async (t) => {
  const { daemon } = await startMeasured(t);
  await sendRequests(daemon(), 20);
  const text = await (await fetch(daemon().url + METRICS)).text();
  assert.match(text, /^gen_ai_client_inference_usage_input_tokens_total\{/m);
  assert.equal(await promtool(["check", "metrics"], text), "");
  const { stdout } = await daemon().command("metrics");
  assert.deepEqual(usageLines(stdout), usageLines(text));
  await daemon().stop();
  assert.match(readFileSync(join(daemon().home, "state", "tollkeeper", "metrics.json"), "utf8"), /"aider"/);
});
