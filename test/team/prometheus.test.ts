// The files of docs/team against the real Prometheus.
import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";
import { post } from "../helpers/gate/gate.ts";
import { noPrometheus, promtool, startPrometheus } from "../helpers/prometheus/prometheus.ts";
import { MESSAGE_EVENTS, SSE } from "../helpers/upstream/scripted-upstream.ts";
import { dashboardExpressions, TEAM } from "./files.ts";

test("promtool accepts the rules, their tests and the configuration", { skip: noPrometheus }, async () => {
  assert.match(await promtool(["check", "rules", `${TEAM}rules.yml`]), /SUCCESS: 10 rules found/);
  assert.match(await promtool(["test", "rules", `${TEAM}rules.test.yml`]), /SUCCESS/);
  assert.match(await promtool(["check", "config", `${TEAM}prometheus.yml`]), /SUCCESS/);
});

test(
  "each expression of the dashboard is valid, and finds what a daemon tells",
  { skip: noPrometheus },
  async (t) => {
    const { daemon } = await startDaemonWithUpstream(
      t,
      (_seen, res) => res.writeHead(200, SSE).end(MESSAGE_EVENTS.join("")),
      { config: { prices: { "claude-*": { input: 3, output: 15 } }, export: { metrics: {} } } },
    );
    const prometheus = await startPrometheus(t, { targets: [{ target: `127.0.0.1:${daemon.port}` }] });
    const ask = async () => {
      await (
        await post(daemon, "/v1/messages", { model: "claude-sonnet-5", stream: true, messages: [] })
      ).text();
      await (await fetch(`${daemon.url}/no-such-path`)).text();
    };
    // Rates need two scrapes of a series, the second with more in it.
    await ask();
    await waitUntil("a first scrape", () => prometheus.value("tollkeeper_cost_usd_total"));
    await ask();
    await waitUntil("a second value", async () =>
      (await prometheus.value("sum(tollkeeper_requests_total)")) === 2 ? true : null,
    );
    const expressions = dashboardExpressions();
    assert.ok(expressions.length >= 20);
    for (const expression of expressions) {
      const found = await prometheus.query(expression);
      assert.ok(found.length > 0, expression);
    }
  },
);
