import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { findConflicts } from "../../src/connect/conflicts.ts";
import { readConnections } from "../../src/connect/connection.ts";
import { prepareTool } from "../../src/connect/tool-connection.ts";
import { NO_REACH } from "../../src/core/policy/tool-reach.ts";
import type { SettingsLayer, SettingsSource } from "../../src/tools/conflict.ts";
import { elsewhere, findText } from "../../src/tools/recipe/layers.ts";
import type { Format, Setting } from "../../src/tools/setting.ts";
import type { ConnectableTool, LocalEndpoint, Scope, ToolHost } from "../../src/tools/tool.ts";
import { CODEX, scratchConnection } from "./scratch-connection.ts";

const ENDPOINT: LocalEndpoint = {
  baseUrl: "http://127.0.0.1:8655/t/mine",
  credential: "tk-mine",
  isToken: false,
  model: null,
  smallModel: null,
  isFirstParty: false,
  account: "key",
  reach: NO_REACH,
};

const NOTHING_ADDED = {
  statusLine: { isWanted: undefined, command: "" },
  mcpServer: { isWanted: undefined, command: { program: [""] as [string], usual: [] } },
};

const REMEDY: Setting = {
  keyPath: ["provider"],
  value: "here",
  purpose: "the provider that points at tollkeeper",
};

/**
 * A tool that writes a base URL to `own.json`, and asks the provider that the last of these files names. Any but `here` goes
 * elsewhere.
 */
function toolWith(
  t: TestContext,
  files: readonly [kind: "user" | "project", name: string, format: Format][],
) {
  const scratch = scratchConnection(t);
  const { home, journals, pathOf } = scratch;
  const host: ToolHost = {
    home,
    env: {},
    platform: "linux",
    directory: home,
    exists: () => false,
    list: () => [],
  };
  const settings: Setting[] = [{ keyPath: ["base"], value: "u", purpose: "the base URL" }];
  const tool = {
    name: CODEX.tool,
    scopes: ["user", "project"],
    plan: (_host: ToolHost, _endpoint: LocalEndpoint, scope: Scope) => {
      const path = pathOf(scope === "user" ? "own.json" : "project.json");
      return { files: [{ path, format: "jsonc", settings }], remarks: [] };
    },
    conflicts: {
      sources: (): SettingsSource[] =>
        files.map(([kind, name, format]) => ({ kind, path: pathOf(name), format })),
      find(layers: readonly SettingsLayer[]) {
        const found = findText(layers, "provider");
        if (found === null || found.value === "here") return [];
        return [elsewhere(found, `it asks ${found.value}`, { remedies: [REMEDY] })];
      },
    },
  } as unknown as ConnectableTool;
  return {
    ...scratch,
    find: (scope: Scope = "user") => {
      const plan = tool.plan(host, ENDPOINT, scope);
      return findConflicts(tool, host, ENDPOINT, scope, plan, []).map((conflict) => ({
        at: conflict.source.kind === "environment" ? "" : conflict.source.path.replace(`${home}/`, ""),
        line: conflict.line,
        target: conflict.target?.path.replace(`${home}/`, "") ?? null,
        isResolvedByProject: conflict.isResolvedByProject,
      }));
    },
    prepareAll: () => prepareTool(tool, host, ENDPOINT, journals, CODEX, NOTHING_ADDED),
  };
}

for (const [format, text, line] of [
  ["jsonc", '\uFEFF{\r\n  // theirs\r\n  "provider": "work"\r\n}\r\n', 3],
  ["toml", '# theirs\nprovider = "work"\n', 2],
  ["yaml", "\n\n\nprovider: work\n", 4],
  ["sh", "# provider=old\nexport provider=here\nprovider=work\n", 3],
] as const) {
  test(`a conflict in a file of the format ${format} is found with its line`, (t) => {
    const { write, find } = toolWith(t, [["user", "settings", format]]);
    assert.deepEqual(find(), []);
    write("settings", text);
    assert.deepEqual(
      find().map((conflict) => [conflict.at, conflict.line]),
      [["settings", line]],
    );
  });
}

test("a file that cannot be read has no conflicts, as the tool cannot read it either", (t) => {
  const { write, find } = toolWith(t, [["user", "settings.json", "jsonc"]]);
  write("settings.json", '{ "provider": ');
  assert.deepEqual(find(), []);
  write("settings.json", Buffer.from([0x7b, 0xff, 0x7d]));
  assert.deepEqual(find(), []);
});

test("the strongest file counts", (t) => {
  const { write, find } = toolWith(t, [
    ["user", "own.json", "jsonc"],
    ["project", "project.json", "jsonc"],
  ]);
  write("own.json", '{ "provider": "work" }');
  write("project.json", '{ "provider": "here" }');
  assert.deepEqual(find(), []);
  write("own.json", '{ "provider": "here" }');
  write("project.json", '{ "provider": "work" }');
  assert.deepEqual(
    find().map(({ at }) => at),
    ["project.json"],
  );
});

test("a conflict is resolved in the file that is written anyway, where that overrides it, else in its own file if it is the user's", (t) => {
  const { write, find } = toolWith(t, [
    ["user", "weaker.json", "jsonc"],
    ["user", "own.json", "jsonc"],
    ["user", "stronger.json", "jsonc"],
    ["project", "project.json", "jsonc"],
  ]);
  const targets = ["weaker.json", "own.json", "stronger.json", "project.json"].map((name) => {
    write(name, '{ "provider": "work" }');
    return find().map(({ target, isResolvedByProject }) => [target, isResolvedByProject]);
  });
  assert.deepEqual(targets, [
    [["own.json", true]],
    [["own.json", true]],
    [["stronger.json", true]],
    [[null, true]],
  ]);
  assert.deepEqual(
    find("project").map(({ target }) => target),
    ["project.json"],
  );
});

test("connecting resolves conflicts in other files too, and disconnecting restores all of them byte for byte", (t) => {
  const { write, prepareAll, snapshot, disconnect, journals } = toolWith(t, [
    ["user", "own.json", "jsonc"],
    ["user", "stronger.toml", "toml"],
  ]);
  write("own.json", "{}");
  write("stronger.toml", '# theirs\nprovider = "work" # mine\n');
  const before = snapshot();
  const prepared = prepareAll();
  assert.deepEqual(prepared.conflicts, []);
  assert.deepEqual(
    prepared.change.changes.flatMap(({ purposes }) => purposes.map(({ setting }) => setting)),
    ["base", "provider"],
  );
  prepared.change.commit();
  assert.equal(readConnections(journals)[0]?.files.length, 2);
  // Connecting again finds nothing to change, although the conflict is in neither file any more.
  const again = prepareAll();
  assert.deepEqual([again.change.isUnchanged, again.conflicts], [true, []]);
  disconnect();
  assert.deepEqual(snapshot(), before);
});

test("what is added to a file in which a conflict was resolved stays when connecting again and when disconnecting", (t) => {
  const { write, read, prepareAll, disconnect } = toolWith(t, [
    ["user", "own.json", "jsonc"],
    ["user", "stronger.json", "jsonc"],
  ]);
  const text = '{ "provider": "work" }';
  write("stronger.json", text);
  prepareAll().change.commit();
  assert.equal(read("stronger.json"), '{ "provider": "here" }');
  write("stronger.json", '{ "provider": "here", "mine": true }');
  prepareAll().change.commit();
  assert.equal(read("stronger.json"), '{ "provider": "here", "mine": true }');
  disconnect();
  assert.equal(read("stronger.json"), '{ "provider": "work", "mine": true }');
});
