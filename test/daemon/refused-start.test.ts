import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { runProgram } from "../helpers/daemon/run-program.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

/** A daemon that does not end fails the test. */
const LIMIT = { timeout: 300_000 };

/** A daemon that has stopped, whose home another one can be started in. */
async function startAndStop(t: TestContext): Promise<Daemon> {
  const daemon = await startDaemon(t);
  assert.equal(await daemon.stop(), 0);
  return daemon;
}

test("a second `serve` of the same user fails and names the running daemon, which keeps running", async (t) => {
  const daemon = await startDaemon(t);
  const { code, stdout, stderr } = await daemon.command("serve");
  assert.deepEqual([code, stdout], [1, ""]);
  assert.equal(
    stderr,
    `error: tollkeeper is already running: pid ${daemon.pid}, listening on 127.0.0.1:${daemon.port} and [::1]:${daemon.port}\n` +
      `hint: see it with: tollkeeper status; stop it with: tollkeeper service stop\n`,
  );
  assert.equal((await daemon.status()).pid, daemon.pid);
});

test("a second `serve` with another configuration says which one is in use, and so does `status` about it", async (t) => {
  const daemon = await startDaemon(t);
  const other = join(scratchDirectory(t), "other.jsonc");
  writeFileSync(other, "{}", { mode: 0o600 });
  const { code, stderr } = await runProgram(["serve", "--config", other], daemon);
  assert.equal(code, 1);
  assert.ok(stderr.includes(`already running: pid ${daemon.pid}, listening on `), stderr);
  assert.ok(stderr.includes(`, with the configuration ${daemon.configFile}\n`), stderr);
  const status = await runProgram(["status", "--config", other], daemon);
  assert.equal(
    status.stderr,
    `note: the running daemon uses another configuration than ${other}: ${daemon.configFile}\n`,
  );
  assert.equal((await daemon.command("status")).stderr, "");
});

test("the start fails on an invalid configuration and lists all its problems with their lines", async (t) => {
  const daemon = await startAndStop(t);
  const lines = [
    "{",
    '  "listen": { "port": "x" },',
    '  "nonsense": 1,',
    '  "ledger": { "retainDays": 0 }',
    "}",
  ];
  writeFileSync(daemon.configFile, lines.join("\n"));
  const { code, stderr } = await daemon.command("serve");
  assert.equal(code, 1);
  assert.match(stderr, /^error: the configuration is not usable\n/);
  for (const line of [2, 3, 4]) assert.match(stderr, new RegExp(`${daemon.configFile}:${line}\\b`));
  assert.match(stderr, /\nhint: correct it with: tollkeeper config edit --config .*config\.jsonc\n$/);
});

test("the start fails with a hint when the ledger directory cannot be created", async (t) => {
  const daemon = await startAndStop(t);
  const directory = join(daemon.configFile, "ledger");
  writeFileSync(daemon.configFile, JSON.stringify({ listen: { port: 0 }, ledger: { directory } }));
  const { code, stderr } = await daemon.command("serve");
  assert.equal(code, 1);
  assert.match(stderr, /^error: cannot create the ledger directory .*config\.jsonc\/ledger: /);
  assert.match(
    stderr,
    /\nhint: see the permissions with: [^]* set another directory with: tollkeeper config edit/,
  );
});

test("the start fails with a hint when the control socket cannot be created", async (t) => {
  const daemon = await startAndStop(t);
  const env = { XDG_RUNTIME_DIR: daemon.configFile };
  await assert.rejects(
    startDaemon(t, { env }),
    /error: cannot open the control socket .*\nhint: inspect it with: ls -ld /,
  );
});

test("the start fails with the length when the path of the control socket is too long", async (t) => {
  const deep = `/tmp/${"x".repeat(100)}`;
  const env = { XDG_RUNTIME_DIR: deep, XDG_STATE_HOME: join(scratchDirectory(t), deep) };
  await assert.rejects(startDaemon(t, { env }), /error: the control socket's path has 1\d\d bytes/);
});

test(
  "a start that fails in its last step leaves nothing open that would keep the process alive",
  LIMIT,
  async (t) => {
    const daemon = await startAndStop(t);
    const preload = join(daemon.home, "bug.mjs");
    // Simulates a bug: the daemon cannot add its first signal listener.
    const bug = `if (name === "SIGTERM") throw new Error("a bug"); return on.call(this, name, listener);`;
    writeFileSync(preload, `const { on } = process; process.on = function (name, listener) { ${bug} };`);
    const failing = startDaemon(t, { env: { NODE_OPTIONS: `--import=${preload}` } });
    await assert.rejects(failing, /error: a bug/);
  },
);
