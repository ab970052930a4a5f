import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";

// Claude Code saves all settings that it has read, also after it was disconnected.

const BEFORE = '{\n  "model": "opus"\n}\n';

/** A tool that was connected and disconnected, and has written back what it had read in between. */
async function prepareWrittenBack(t: TestContext) {
  const machine = prepareHome(t, { config: { listen: { port: 4711 } } });
  const settings = join(machine.home, ".claude", "settings.json");
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(settings, BEFORE);
  assert.equal((await machine.command("connect", "claude-code", "--statusline", "--yes")).code, 0);
  const connected = readFileSync(settings);
  assert.equal((await machine.command("disconnect", "claude-code", "--yes")).code, 0);
  writeFileSync(settings, connected);
  return {
    ...machine,
    text: () => readFileSync(settings, "utf8"),
    write: (text: string) => writeFileSync(settings, text),
  };
}

test("connect --list names the file that a disconnected tool has written back", async (t) => {
  const { command } = await prepareWrittenBack(t);
  const { stdout } = await command("connect", "--list");
  assert.match(stdout, /claude-code +\w+ +by hand in ~\/\.claude\/settings\.json /);
  const tools = JSON.parse((await command("connect", "--list", "--json")).stdout) as {
    tool: string;
    connections: { path: string | null }[];
  }[];
  const [connection] = tools.find(({ tool }) => tool === "claude-code")?.connections ?? [];
  assert.match(connection?.path ?? "", /\/\.claude\/settings\.json$/);
});

test("disconnect takes out what the tool has written back, and nothing else", async (t) => {
  const { command, text } = await prepareWrittenBack(t);
  const dry = await command("disconnect", "claude-code", "--dry-run");
  assert.match(dry.stdout, /^-.*"ANTHROPIC_BASE_URL"/m);
  assert.equal((await command("disconnect", "claude-code", "--yes")).code, 0);
  assert.deepEqual(JSON.parse(text()), { model: "opus" });
  const again = await command("disconnect", "claude-code", "--yes");
  assert.deepEqual([again.code, /^error: claude-code is not connected$/m.test(again.stderr)], [1, true]);
});

test("disconnect --all takes out what tools have written back, too", async (t) => {
  const { command, text } = await prepareWrittenBack(t);
  const { code, stdout } = await command("disconnect", "--all", "--yes");
  assert.deepEqual([code, stdout.split("\n").at(-2)], [0, "1 tool is done."]);
  assert.deepEqual(JSON.parse(text()), { model: "opus" });
  assert.equal((await command("disconnect", "--all", "--yes")).stdout, "There is nothing to do.\n");
});

test("settings that held nothing else are left as an empty document, which the tool can read", async (t) => {
  const { command, text, write } = await prepareWrittenBack(t);
  const { model, ...ours } = JSON.parse(text()) as Record<string, unknown>;
  assert.equal(model, "opus");
  write(JSON.stringify(ours));
  assert.equal((await command("disconnect", "claude-code", "--yes")).code, 0);
  assert.deepEqual(JSON.parse(text()), {});
});

test("uninstall names what the tool has written back, and takes it out", async (t) => {
  const { command, text } = await prepareWrittenBack(t);
  const { stdout } = await command("uninstall", "--yes");
  assert.match(
    stdout,
    /^ {2}tool +claude-code: ~\/\.claude\/settings\.json:4 points at tollkeeper, though it is not connected/m,
  );
  assert.deepEqual(JSON.parse(text()), { model: "opus" });
});

test("settings in another form than connect writes are named by file and line, and stay", async (t) => {
  const { command, text, write } = await prepareWrittenBack(t);
  const own = '{ "env": { "ANTHROPIC_BASE_URL": "http://localhost:4711/t/claude-code" } }\n';
  write(own);
  const { code, stderr } = await command("disconnect", "claude-code", "--yes");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: claude-code is not connected, but \S+settings\.json:1 points at tollkeeper\nhint: remove that by hand with: \$\{EDITOR:-vi\} \S+settings\.json$/m,
  );
  assert.equal(text(), own);
});

test("a second connection does not write over the backup of the first state", async (t) => {
  const { command, home, text, write } = await prepareWrittenBack(t);
  write(BEFORE);
  await command("connect", "claude-code", "--yes");
  // Edited since, so that disconnecting keeps the backup.
  write(text().replace("opus", "sonnet"));
  await command("disconnect", "claude-code", "--yes");
  const directory = join(home, "state/tollkeeper/connections");
  const backups = () => readdirSync(directory).filter((name) => name.endsWith(".backup"));
  const [first = ""] = backups();
  assert.equal(readFileSync(join(directory, first), "utf8"), BEFORE);
  await command("connect", "claude-code", "--yes");
  assert.equal(readFileSync(join(directory, first), "utf8"), BEFORE);
  assert.deepEqual(backups(), [first, first.replace(/\.backup$/, ".2.backup")].sort());
  await command("disconnect", "claude-code", "--yes");
  assert.deepEqual(backups(), [first]);
});
