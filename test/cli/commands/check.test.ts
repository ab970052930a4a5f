import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openControlSocket } from "../../../src/adapters/control-socket.ts";
import { GUARANTEES } from "../../../src/check/guarantees.ts";
import { DAEMON_GUARANTEES } from "../../../src/check/guarantees/refusals.ts";
import type { CheckReport } from "../../../src/cli/commands/check.ts";
import { programVersion } from "../../../src/adapters/program.ts";
import { controlHandlers, daemonStatusWith } from "../../helpers/daemon/control-handlers.ts";
import { prepareHome, startDaemon } from "../../helpers/daemon/daemon.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { MemoryLog } from "../../helpers/gate/memory.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";

/** A configuration that sets every option to something other than its default. Nothing in it can be reached or read. */
const FULL_CONFIG = {
  listen: { allowedHosts: ["host.docker.internal:8655"], allowedOrigins: ["vscode-webview://abc"] },
  upstreams: {
    default: {
      baseUrl: "https://api.invalid/api/v1",
      keySource: { file: "/nowhere/key" },
      countTokensAuth: "bearer",
      anthropicVersion: "2024-02-02",
      inputIncludesCache: true,
      routes: [
        { method: "POST", path: "/moderations", auth: "bearer", dialect: "none" },
        { method: "GET", path: "/responses/{id}", auth: "bearer", dialect: "responses" },
      ],
    },
    other: { baseUrl: "https://other.invalid/v1", key: "other", auth: "bearer" },
    here: { baseUrl: "http://127.0.0.1:9/v1", auth: "none" },
  },
  access: { mode: "token", peerUid: [100_999] },
  tools: {
    codex: { upstreams: ["other"], key: "codex" },
    zed: {},
    llm: { upstreams: ["here"] },
    "*": { group: "small" },
  },
  groups: { small: { models: ["small-*"], key: "small" } },
  ledger: { directory: "~/elsewhere", retainDays: 3 },
  abort: { graceMs: 20 },
  limits: { bodyBytes: 1_000_000, firstByteMs: 4_000, betweenBytesMs: 4_000 },
};

interface JsonReport extends CheckReport {
  passed: boolean;
}

test("check without a configuration passes every guarantee and prints a table with the measured overhead", async (t) => {
  const { command } = prepareHome(t, {});
  const { code, stdout, stderr } = await command("check");
  assert.deepEqual([code, stderr], [0, ""], stdout);
  for (const { name, proves } of GUARANTEES) {
    assert.match(stdout, new RegExp(`^ok +${name} +${proves.replaceAll(/[()]/g, String.raw`\$&`)}$`, "m"));
  }
  assert.match(stdout, /^milliseconds +p50 +p90 +p99$/m);
  for (const what of ["without tollkeeper", "through tollkeeper", "added"]) {
    assert.match(stdout, new RegExp(`^request, ${what}(?: +-?\\d+\\.\\d\\d){3}$`, "m"));
  }
  assert.match(stdout, /^no daemon is running/m);
  assert.match(stdout, new RegExp(`^all ${GUARANTEES.length} checks passed\n$`, "m"));
});

test("check with every option configured passes, touches nothing of the user's and leaves no files behind", async (t) => {
  const temporary = scratchDirectory(t);
  const { home, configFile, command } = prepareHome(t, { config: FULL_CONFIG, env: { TMPDIR: temporary } });
  const before = readdirSync(home, { recursive: true });
  const { code, stdout } = await command("check", "--json");
  const report = parseJsonOutput(stdout) as JsonReport;
  assert.deepEqual(
    report.checks.filter(({ isOk }) => !isOk),
    [],
  );
  assert.deepEqual([code, report.passed, report.version], [0, true, programVersion()]);
  assert.deepEqual([report.config, report.daemon], [configFile, null]);
  const { request, firstByte } = report.overhead ?? assert.fail("no overhead");
  assert.deepEqual([request.count, firstByte.count], [300, 100]);
  for (const { p50, p90, p99 } of [request.direct, request.through, firstByte.direct, firstByte.through]) {
    assert.ok(p50 > 0 && p50 <= p90 && p90 <= p99);
  }
  assert.deepEqual(readdirSync(home, { recursive: true }), before);
  assert.deepEqual(
    readdirSync(temporary).filter((name) => name.startsWith("tollkeeper")),
    [],
  );
});

test("check also verifies a running daemon, names its version, and leaves no record in its ledger", async (t) => {
  const daemon = await startDaemon(t);
  writeFileSync(daemon.configFile, JSON.stringify({ listen: { port: daemon.port } }));
  const { code, stdout } = await daemon.command("check");
  assert.equal(code, 0, stdout);
  const head = `the running daemon, tollkeeper ${programVersion()}, pid ${daemon.pid}, port ${daemon.port}:\n`;
  const [, results = ""] = stdout.split(head);
  for (const { name } of DAEMON_GUARANTEES) assert.match(results, new RegExp(`^ok +${name} `, "m"));
  assert.deepEqual(await daemon.ledger(), []);
});

test("check fails with an explanation and a remedy when the running daemon accepts every request", async (t) => {
  const { home, command } = prepareHome(t, {});
  const port = await acceptEverything(t);
  const status = daemonStatusWith({ ...STATUS, listening: [`127.0.0.1:${port}`] });
  const handlers = controlHandlers({ status: () => status });
  const control = await openControlSocket(
    join(home, "run", "tollkeeper", "control.sock"),
    handlers,
    new MemoryLog(),
  );
  t.after(() => control.close());
  const { code, stdout } = await command("check");
  assert.equal(code, 1);
  assert.match(stdout, /^the running daemon, tollkeeper 9\.9\.9, pid 4711, port/m);
  assert.match(stdout, /^FAILED +foreign host +GET \/v1\/models: 403 expected, got 200 hello$/m);
  const count = GUARANTEES.length + DAEMON_GUARANTEES.length;
  assert.match(stdout, new RegExp(`^${DAEMON_GUARANTEES.length} of ${count} checks failed$`, "m"));
  assert.match(
    stdout,
    /^foreign host: any web page could use your key; stop the daemon until this is fixed/m,
  );
});

test("check fails and measures no overhead when the configuration makes a guarantee impossible", async (t) => {
  const { command } = prepareHome(t, { config: { limits: { bodyBytes: 60 } } });
  const { code, stdout } = await command("check");
  assert.equal(code, 1);
  assert.match(stdout, /^FAILED +request bodies +the request did not reach the upstream: 413 .*bodyBytes/m);
  assert.match(
    stdout,
    /^request bodies: the API would get different requests than your tools sent; report it/m,
  );
  assert.match(stdout, /^overhead: not measured, because a check failed$/m);
  assert.match(stdout, /^1 of \d+ checks failed$/m);
});

test("check reports an invalid configuration exactly like serve", async (t) => {
  const { configFile, command } = prepareHome(t, { config: { nonsense: 1 } });
  const [check, serve] = await Promise.all([command("check"), command("serve")]);
  assert.deepEqual(check, serve);
  assert.equal(check.code, 1);
  const problem = `error: the configuration is not usable\n  ${configFile}:1: nonsense: unknown key`;
  assert.ok(check.stderr.startsWith(problem), check.stderr);
  assert.match(check.stderr, /\nhint: correct it with: tollkeeper config edit --config .*\n$/);
});

const STATUS = { version: "9.9.9", pid: 4711 };

/** Starts a server that responds to anything with 200 and returns its port. */
async function acceptEverything(t: TestContext): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"));
    t.after(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test("what check has the running daemon refuse is counted apart, and not shown by tail", async (t) => {
  const daemon = await startDaemon(t);
  assert.equal((await daemon.command("check")).code, 0);
  const { stdout } = await daemon.command("status");
  assert.match(stdout, /^refused +\d+ requests of tollkeeper check$/m);
  assert.doesNotMatch(stdout, /host_not_allowed|the latest without a record/);
  const headers = { origin: "https://evil.example", "x-tollkeeper-check": "0".repeat(32) };
  await (await fetch(`${daemon.url}/v1/models`, { headers })).text();
  assert.match(
    (await daemon.command("status")).stdout,
    /^refused +1 request: 1 origin_not_allowed, and \d+ requests of/m,
  );
});
