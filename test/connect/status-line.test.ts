import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import * as fc from "fast-check";
import { prepareDisconnection, readConnectionState } from "../../src/connect/connection.ts";
import { prepareTool } from "../../src/connect/tool-connection.ts";
import { claudeCode } from "../../src/tools/claude-code.ts";
import { codex } from "../../src/tools/codex.ts";
import { isOwnStatusLine } from "../../src/tools/recipe/status-line.ts";
import type { ConnectableTool, Scope, ToolHost } from "../../src/tools/tool.ts";
import { endpointFor } from "../tools/tool-support.ts";
import { documents, edits } from "./documents.ts";
import { scratchConnection } from "./scratch-connection.ts";

const COMMAND = "/usr/bin/node /opt/tollkeeper/dist/tollkeeper-statusline.js";
const OURS = { type: "command", command: COMMAND };
const THEIRS = { type: "command", command: "~/.claude/mine.sh", padding: 0 };
const SETTINGS = ".claude/settings.json";

/** Connects a tool in a scratch home, in which `~/project` is the working directory. */
function scene(t: TestContext, tool: ConnectableTool = claudeCode) {
  const scratch = scratchConnection(t);
  const { home, journals, pathOf } = scratch;
  const directory = pathOf("project");
  const host: ToolHost = { home, env: {}, platform: "linux", directory, exists: () => false, list: () => [] };
  const idOf = (scope: Scope) => ({ tool: tool.name, scope, directory: scope === "user" ? null : directory });
  const prepare = (isWanted?: boolean, scope: Scope = "user", command = COMMAND) =>
    prepareTool(tool, host, endpointFor(tool.name), journals, idOf(scope), {
      statusLine: { isWanted, command },
      mcpServer: { isWanted: undefined, command: { program: [""], usual: [] } },
    });
  return {
    ...scratch,
    prepare,
    connect(...words: Parameters<typeof prepare>) {
      const prepared = prepare(...words);
      prepared.change.commit();
      return prepared;
    },
    disconnect(scope: Scope = "user") {
      const prepared = prepareDisconnection(journals, idOf(scope));
      prepared?.commit();
      return prepared;
    },
    state: () => readConnectionState(journals, idOf("user")),
    statusLine: () => (JSON.parse(scratch.read(SETTINGS)) as { statusLine?: unknown }).statusLine,
    writeSettings: (settings: object) => scratch.write(SETTINGS, JSON.stringify(settings, null, 2)),
  };
}

test("connecting with a status line, an edit elsewhere, and disconnecting leave the edit and nothing else", (t) => {
  const { connect, disconnect, write, read } = scene(t);
  const theirs = fc.option(fc.constant(`"statusLine": ${JSON.stringify(THEIRS)},`), { nil: "" });
  const cases = fc.tuple(documents("jsonc"), theirs, fc.boolean(), fc.option(edits("jsonc"), { nil: null }));
  fc.assert(
    fc.property(cases, ([document, statusLine, isTwice, edit]) => {
      const text = document.replace("{", () => `{ ${statusLine}`);
      write(SETTINGS, text);
      try {
        connect(true);
      } catch (error) {
        fc.pre(!(error as Error).message.endsWith(" is not an object"));
        throw error;
      }
      if (isTwice) connect();
      if (edit !== null) write(SETTINGS, edit(read(SETTINGS)));
      assert.deepEqual(disconnect()?.unrestored, []);
      assert.equal(read(SETTINGS), edit === null ? text : edit(text));
    }),
    { numRuns: 100 },
  );
});

test("a status line is written only if it is wanted, stays when the tool is connected again, and is taken off alone", (t) => {
  const { connect, disconnect, statusLine, writeSettings, read } = scene(t);
  writeSettings({ model: "opus" });
  const before = read(SETTINGS);
  connect();
  assert.equal(statusLine(), undefined);
  connect(true);
  assert.deepEqual(statusLine(), OURS);
  connect();
  assert.deepEqual(statusLine(), OURS);
  connect(false);
  assert.equal(statusLine(), undefined);
  assert.match(read(SETTINGS), /ANTHROPIC_BASE_URL/);
  disconnect();
  assert.equal(read(SETTINGS), before);
});

test("a format that was added by hand stays when the tool is connected again, and goes when it is disconnected", (t) => {
  const { connect, disconnect, statusLine, writeSettings, read, state } = scene(t);
  writeSettings({ model: "opus" });
  connect(true);
  const settings = JSON.parse(read(SETTINGS)) as object;
  const edited = { ...OURS, command: `${COMMAND} --format '{session} | {today}'`, padding: 0 };
  writeSettings({ ...settings, statusLine: edited });
  assert.equal(state(), "connected");
  connect();
  assert.deepEqual(statusLine(), edited);
  connect(true, "user", "/new/node /new/tollkeeper-statusline.js");
  const moved = edited.command.replace(COMMAND, "/new/node /new/tollkeeper-statusline.js");
  assert.deepEqual(statusLine(), { ...edited, command: moved });
  assert.deepEqual(disconnect()?.unrestored, []);
  assert.deepEqual(JSON.parse(read(SETTINGS)), { model: "opus" });
});

test("a status line that took the place of ours stays when the tool is disconnected", (t) => {
  const { connect, disconnect, statusLine, writeSettings, read } = scene(t);
  connect(true);
  writeSettings({ ...(JSON.parse(read(SETTINGS)) as object), statusLine: THEIRS });
  const kept = disconnect()?.unrestored.map(({ setting, reason }) => `${setting} ${reason}`);
  assert.deepEqual(kept, ["statusLine changed"]);
  assert.deepEqual(statusLine(), THEIRS);
});

test("the user's own status line is reported before it is replaced, and stays unless ours is wanted", (t) => {
  const { connect, prepare, statusLine, writeSettings, pathOf, write } = scene(t);
  writeSettings({ model: "opus", statusLine: THEIRS });
  const replaced = { path: pathOf(SETTINGS), line: 3, setting: "statusLine" };
  assert.deepEqual(prepare(true).replacedStatusLine, replaced);
  assert.equal(connect().replacedStatusLine, null);
  assert.deepEqual(statusLine(), THEIRS);
  // In a project ours would be drawn in its place.
  assert.deepEqual(prepare(true, "project").replacedStatusLine, replaced);
  writeSettings({ statusLine: OURS });
  assert.equal(prepare(true).replacedStatusLine, null);
  write("project/.claude/settings.json", JSON.stringify({ statusLine: THEIRS }));
  assert.equal(prepare(true).replacedStatusLine, null);
});

test("settings that hide our status line are conflicts, once there is one", (t) => {
  const { prepare, write } = scene(t);
  write("project/.claude/settings.json", JSON.stringify({ statusLine: THEIRS, disableAllHooks: true }));
  const found = (isWanted?: boolean) =>
    prepare(isWanted).conflicts.map(({ effect, path, reason }) => `${effect} ${path.join(".")}: ${reason}`);
  assert.deepEqual(found(), []);
  assert.deepEqual(found(true), [
    "statusline statusLine: it is another one",
    "statusline disableAllHooks: Claude Code draws none with it",
  ]);
});

test("a tool without a status line refuses one", (t) => {
  const { prepare } = scene(t, codex);
  assert.throws(() => prepare(true), /Codex has no status line that connect can set/);
  assert.equal(prepare().replacedStatusLine, null);
});

for (const command of [
  "tollkeeper statusline",
  "/usr/local/bin/tollkeeper statusline --format={today}",
  COMMAND,
  "/usr/bin/node /opt/tollkeeper/dist/main.js statusline",
  "'/my apps/node' '/my apps/tollkeeper-statusline.js'",
  "'/my apps/node' '/my apps/main.js' statusline --format '{session} | {today}'",
  `${COMMAND} --format "{session} & {today}"`,
]) {
  test(`${command} is ours`, () => assert.ok(isOwnStatusLine({ type: "command", command })));
}

for (const command of [
  "~/.claude/mine.sh",
  "tollkeeper statusline | sed s/x/y/",
  "tollkeeper statusline; ~/.claude/mine.sh",
  'tollkeeper statusline --format "$(mine)"',
  "~/.claude/mine.sh && tollkeeper statusline",
  "bash -c 'tollkeeper statusline'",
  "/usr/bin/node other.js statusline",
  "node ~/.claude/statusline.js",
  "node ~/.claude/my-tollkeeper-statusline.js",
  "node '/my apps/statusline.js'",
]) {
  test(`${command} is the user's own`, () => assert.ok(!isOwnStatusLine({ type: "command", command })));
}
