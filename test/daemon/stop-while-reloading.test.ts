import assert from "node:assert/strict";
import { DaemonExporter } from "../../src/daemon/exporter.ts";
import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import { openServiceNotifier } from "../../src/adapters/service-notifier.ts";
import { DaemonCaptures } from "../../src/daemon/capture/captures.ts";
import { DaemonBudgets } from "../../src/daemon/budgets.ts";
import { RecordFeed } from "../../src/daemon/record-feed.ts";
import { Lifecycle } from "../../src/daemon/lifecycle.ts";
import { DaemonLimits } from "../../src/daemon/limits.ts";
import { DaemonMetrics } from "../../src/daemon/metrics.ts";
import { Listeners } from "../../src/daemon/listeners.ts";
import { SandboxUpstream } from "../../src/daemon/sandbox-upstream.ts";
import type { Problem } from "../../src/core/config/problem.ts";
import { defaultConfig, type Config } from "../../src/core/config/config.ts";
import type { ConfigSource } from "../../src/ports.ts";
import { freePort } from "../helpers/process/free-port.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { realClock } from "../helpers/gate/memory.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";

/** A lifecycle in this process. `move` gives it a configuration with another port. */
async function startLifecycle(t: TestContext, sandbox = new SandboxUpstream()) {
  const { gate, keyring, tokenGuard: tokens, ledger, log } = await startGate(t, "http://127.0.0.1:9/v1");
  // Not the default port, where a daemon of the person who runs the tests may listen.
  const config = { ...gate.settings.config, listen: { ...defaultConfig.listen, port: await freePort() } };
  const listeners = await Listeners.open(gate, config, log);
  let change: ((config: Config) => Promise<Problem[]>) | undefined;
  const source: ConfigSource = {
    current: () => config,
    status: () => ({
      path: "config.jsonc",
      exists: true,
      managed: null,
      loadedAt: "",
      judgedAt: "",
      problems: [],
      overruled: [],
    }),
    reload: () => Promise.resolve(),
    onChange: (listener) => (change = listener),
    onProblems() {},
    onOverruled() {},
    close: () => Promise.resolve(),
  };
  const notifier = openServiceNotifier({}, process.pid, log);
  const feed = new RecordFeed();
  const parts = {
    source,
    ledger,
    keyring,
    tokens,
    budgets: new DaemonBudgets({ feed, ledger, statePath: "", managed: () => null, clock: realClock, log }),
    limits: new DaemonLimits({ path: "", clock: realClock, log, warn: () => {} }),
    captures: new DaemonCaptures({
      directory: "",
      clock: realClock,
      log,
      secrets: () => [],
      announce: () => {},
      config: () => config,
      managed: () => null,
    }),
    metrics: new DaemonMetrics({
      path: "",
      describeDaemon: () => Promise.resolve([]),
      clock: realClock,
      log,
    }),
    sandbox,
    gate,
    listeners,
    notifier,
    exporter: new DaemonExporter(log),
    outliers: { close() {} },
    feed,
    log,
    reopenLog: () => {},
  };
  const lifecycle = new Lifecycle(parts);
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  const existing = signals.flatMap((signal) => process.listeners(signal));
  lifecycle.begin({ close: () => Promise.resolve() });
  t.after(() => {
    for (const signal of signals) {
      for (const listener of process.listeners(signal)) {
        if (!existing.includes(listener)) process.off(signal, listener);
      }
    }
  });
  const port = await freePort();
  return { lifecycle, port, log, move: () => change?.({ ...config, listen: { ...config.listen, port } }) };
}

test("a stop during a change of port is complete only after the new port is closed", async (t) => {
  const { lifecycle, port, log, move } = await startLifecycle(t);
  void move();
  process.emit("SIGTERM");
  await lifecycle.stopped;
  await assert.rejects(once(connect(port, "127.0.0.1"), "connect"), { code: "ECONNREFUSED" });
  assert.deepEqual(
    log.lines.filter((line) => /moved|in force/.test(line)),
    [],
  );
});

test("a stop waits for a change of configuration that is under way", async (t) => {
  const { promise: released, resolve: release } = withResolvers<void>();
  const sandbox = new SandboxUpstream();
  const close = t.mock.method(sandbox, "close");
  t.mock.method(sandbox, "complete", async (config: Config) => {
    await released;
    return config;
  });
  const { lifecycle, move } = await startLifecycle(t, sandbox);
  const moved = move();
  process.emit("SIGTERM");
  for (let i = 0; i < 20; i += 1) await setImmediate();
  assert.equal(close.mock.callCount(), 0);
  release();
  await moved;
  await lifecycle.stopped;
  assert.equal(close.mock.callCount(), 1);
});
