// docs/team and docs/metrics.md name metrics that exist, and describe all of them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { describeUsage } from "../../src/core/metrics/describe-usage.ts";
import { writeMetrics } from "../../src/core/metrics/prometheus-text.ts";
import { UsageMetrics } from "../../src/core/metrics/usage-metrics.ts";
import { METRICS } from "../helpers/gate/metrics.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";
import { PRICES } from "../helpers/ledger/priced-record.ts";
import { extraTokens, tokens, usageRecord } from "../helpers/ledger/usage-record.ts";
import { respondWithMessage, type Script } from "../helpers/upstream/scripted-upstream.ts";
import { post } from "../helpers/gate/gate.ts";
import { dashboardExpressions, readDashboard, readTeamFile } from "./files.ts";

/** A response that says how much of a limit is used, until an hour from now. */
const respondWithLimit: Script = (seen, res) => {
  res.setHeader("anthropic-ratelimit-unified-5h-utilization", "0.5");
  res.setHeader("anthropic-ratelimit-unified-5h-reset", `${Math.floor(Date.now() / 1000) + 3600}`);
  respondWithMessage(seen, res);
};

/** A text with every metric and every label: of a daemon after a request and a refusal, and of records of all kinds. */
async function everything(t: TestContext): Promise<string> {
  const { daemon } = await startDaemonWithUpstream(t, respondWithLimit, {
    config: { export: { metrics: {} } },
  });
  await (await post(daemon, "/v1/messages", { model: "claude-sonnet-5", messages: [] })).text();
  await (await fetch(`${daemon.url}/no-such-path`)).text();
  const own = await (await fetch(daemon.url + METRICS)).text();
  const usage = new UsageMetrics();
  const extra = [extraTokens({ type: "message", model: null, billable: null, output: 1 })];
  usage.add(
    usageRecord({ extra, tokens: tokens({ cache_read: 1, cache_write: 1, output: 2, reasoning: 1 }) }),
    PRICES,
  );
  usage.add(usageRecord({ outcome: "error", status: 529, tokens: null }), PRICES);
  usage.add(usageRecord({ upstream: "sandbox" }), PRICES);
  return own + [...writeMetrics(describeUsage(usage), "text")].join("");
}

const namesIn = (text: string) => new Set(text.match(/\b(?:gen_ai|tollkeeper)_\w+/g));

test("docs/metrics.md describes every metric and every label, and rules and dashboard use no others", async (t) => {
  const text = await everything(t);
  const families = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = ""]) => name));
  const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, name = ""]) => name));
  labels.delete("le");
  const page = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");
  const missing = [...families, ...labels].filter((name) => !page.includes(`\`${name}\``));
  assert.deepEqual(missing, []);
  const known = new Set([
    ...families,
    ...labels,
    ...[...families].flatMap((name) => [`${name}_bucket`, `${name}_count`, `${name}_sum`]),
  ]);
  const used = [
    ...namesIn(dashboardExpressions().join("\n")),
    ...namesIn(readTeamFile("rules.yml")),
    ...namesIn(readTeamFile("rules.test.yml")),
    ...namesIn(readFileSync(new URL("../../docs/team.md", import.meta.url), "utf8")),
    ...namesIn(page),
  ];
  assert.deepEqual(
    used.filter((name) => !known.has(name)),
    [],
  );
});

test("the dashboard's panels have places of their own, one data source, and variables that exist", () => {
  const { panels, templating, schemaVersion } = readDashboard();
  assert.ok(schemaVersion >= 39);
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  assert.equal(new Set(cells).size, cells.length);
  for (const { gridPos, datasource, targets, title } of panels) {
    assert.ok(gridPos.x + gridPos.w <= 24, title);
    assert.equal(datasource.uid, "${datasource}");
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length);
  }
  const variables = new Set(["__range", "__rate_interval", ...templating.list.map(({ name }) => name)]);
  const used = JSON.stringify(panels).match(/(?<=\$\{?)[a-z_]+/g) ?? [];
  assert.deepEqual(
    used.filter((name) => !variables.has(name)),
    [],
  );
});
