import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { digestPath } from "../../../src/connect/journal/journal.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";

/** Starts a daemon that requires tokens, in a home directory where Claude Code can be connected. */
async function prepare(t: TestContext) {
  const daemon = await startDaemon(t, { config: { access: "token" } });
  const settings = join(daemon.home, ".claude", "settings.json");
  const written = () => {
    const { env } = JSON.parse(readFileSync(settings, "utf8")) as { env: Record<string, string> };
    return env["ANTHROPIC_AUTH_TOKEN"] ?? "";
  };
  const tokens = async () => {
    const { stdout } = await daemon.command("token", "list", "--json");
    return JSON.parse(stdout) as { tool: string; note: string | null }[];
  };
  const statusWith = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${daemon.url}/t/claude-code/v1/models`, { headers })).status;
  };
  return { ...daemon, settings, written, tokens, statusWith };
}

test("connect creates a token, connecting with another model keeps it, disconnect revokes it", async (t) => {
  const { url, command, written, tokens, statusWith } = await prepare(t);
  const first = await command("connect", "claude", "--yes");
  assert.equal(first.code, 0, first.stderr);
  const token = written();
  assert.equal(await statusWith(token), 200);
  assert.deepEqual(
    (await tokens()).map(({ tool, note }) => [tool, note]),
    [["claude-code", "connect"]],
  );

  const again = await command("connect", "claude");
  assert.equal(again.code, 0);
  assert.ok(
    again.stdout.startsWith(`Claude Code is already connected: ${url}/t/claude-code\n`),
    again.stdout,
  );
  const changed = await command("connect", "claude", "--model", "opus", "--yes");
  assert.equal(changed.code, 0, changed.stderr);
  assert.deepEqual([written(), await statusWith(token), (await tokens()).length], [token, 200, 1]);

  const undone = await command("disconnect", "claude", "--yes");
  assert.deepEqual([undone.code, await statusWith(token), await tokens()], [0, 400, []]);
  for (const { stdout, stderr } of [first, again, changed, undone])
    assert.ok(!`${stdout}${stderr}`.includes(token.slice(-20)));
});

test("connect replaces a token that was revoked", async (t) => {
  const { command, written, tokens, statusWith } = await prepare(t);
  await command("connect", "claude", "--yes");
  const token = written();
  await command("token", "revoke", "claude-code");
  const { code, stderr } = await command("connect", "claude", "--yes");
  assert.equal(code, 0, stderr);
  assert.deepEqual([await statusWith(token), await statusWith(written())], [400, 200]);
  assert.equal((await tokens()).length, 1);
});

test("disconnect keeps a token that connect did not create", async (t) => {
  const { command, tokens } = await prepare(t);
  await command("token", "add", "claude-code", "--note", "mine");
  await command("connect", "claude", "--yes");
  await command("disconnect", "claude", "--yes");
  assert.deepEqual(
    (await tokens()).map(({ note }) => note),
    ["mine"],
  );
});

test("connect leaves no token behind when it only shows the change or cannot write it", async (t) => {
  const { home, command, settings, tokens } = await prepare(t);
  assert.equal((await command("connect", "claude", "--dry-run")).code, 0);
  assert.equal((await command("connect", "claude")).code, 1);
  assert.deepEqual(await tokens(), []);
  // A directory in its place makes writing the backup fail.
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(settings, "{}");
  const backup = `claude-code.user.${digestPath(settings)}.backup`;
  mkdirSync(join(home, "state", "tollkeeper", "connections", backup), { recursive: true });
  const { code, stderr } = await command("connect", "claude", "--yes");
  assert.equal(code, 1);
  assert.match(stderr, /^error: /);
  assert.deepEqual([readFileSync(settings, "utf8"), await tokens()], ["{}", []]);
});

test("connect creates no token for a tool whose files hold none", async (t) => {
  const { command, tokens } = await prepare(t);
  const { code, stdout, stderr } = await command("connect", "zed", "--yes");
  assert.equal(code, 0, stderr);
  assert.match(stdout, /tollkeeper token add zed/);
  assert.deepEqual(await tokens(), []);
});

test("connect asks the daemon for a model with a leased token where tokens are required", async (t) => {
  const { command } = await prepare(t);
  const { code, stdout, stderr } = await command("connect", "droid", "--dry-run");
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^model: \S+, the first suitable one/);
  assert.match(stdout, /a-new-local-token/);
});
