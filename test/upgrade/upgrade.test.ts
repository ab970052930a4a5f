// What 0.1 wrote is read by this program, and what a later one may write is reported.
import assert from "node:assert/strict";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { parsePauses } from "../../src/core/policy/pauses.ts";
import { prepareHome } from "../helpers/daemon/daemon.ts";

/** The files that 0.1 left: `state` is its state directory. In the journal, %HOME% stands for the home directory. */
const FIXTURE = fileURLToPath(new URL("home-0.1/", import.meta.url));

const JOURNAL = "connections/claude-code.user.json";

/** Gives files the modes with which they were written, which git does not keep. */
function makePrivate(directory: string): void {
  chmodSync(directory, 0o700);
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const path = join(directory, name);
    chmodSync(path, statSync(path).isDirectory() ? 0o700 : 0o600);
  }
}

function homeOf01(t: TestContext) {
  const config = readFileSync(join(FIXTURE, "config.jsonc"), "utf8");
  const prepared = prepareHome(t, { config, env: { TZ: "UTC" } });
  const state = join(prepared.home, "state", "tollkeeper");
  cpSync(join(FIXTURE, "state"), state, { recursive: true });
  makePrivate(state);
  mkdirSync(join(prepared.home, ".claude"));
  const settings = join(prepared.home, ".claude", "settings.json");
  cpSync(join(FIXTURE, "claude-settings.json"), settings);
  const edit = (name: string, change: (text: string) => string) =>
    writeFileSync(join(state, name), change(readFileSync(join(state, name), "utf8")), { mode: 0o600 });
  edit(JOURNAL, (text) => text.replaceAll("%HOME%", prepared.home));
  return { ...prepared, settings, edit };
}

test("records of both formats, a compressed day and the sums of a deleted one count in usage", async (t) => {
  const { command } = homeOf01(t);
  const { stdout, stderr } = await command(
    "usage",
    "--since",
    "2026-11-01",
    "--until",
    "2026-11-21",
    "--json",
  );
  assert.equal(stderr, "");
  const { total, rows, unreadable_lines } = JSON.parse(stdout) as {
    total: Record<string, number>;
    rows: { tool: string; requests: number }[];
    unreadable_lines: number;
  };
  assert.deepEqual([total["requests"], total["output"], unreadable_lines], [6, 30, 0]);
  assert.deepEqual(Object.fromEntries(rows.map(({ tool, requests }) => [tool, requests])), {
    codex: 4,
    "claude-code": 2,
  });
});

test("the configuration, the tokens and the pauses are read", async (t) => {
  const { command } = homeOf01(t);
  const checked = JSON.parse((await command("config", "check", "--json")).stdout) as Record<string, unknown>;
  assert.deepEqual([checked["ok"], checked["problems"]], [true, []]);
  const [token] = JSON.parse((await command("token", "list", "--json")).stdout) as Record<string, unknown>[];
  assert.deepEqual([token?.["tool"], token?.["note"]], ["my-script", "nightly job"]);
  const pauses = parsePauses(readFileSync(join(FIXTURE, "state/pauses.json"), "utf8"));
  assert.equal(pauses?.length, 1);
});

test("a connection is undone byte for byte", async (t) => {
  const { command, settings } = homeOf01(t);
  const { code, stderr } = await command("disconnect", "claude-code", "--yes");
  assert.deepEqual([code, stderr], [0, ""]);
  const backup = join(FIXTURE, "state/connections/claude-code.user.14c5fcadd842.backup");
  assert.equal(readFileSync(settings, "utf8"), readFileSync(backup, "utf8"));
});

test("records of a later format are counted as unread, and those beside them are read", async (t) => {
  const { command, edit } = homeOf01(t);
  edit("ledger/2026-11-20.ndjson", (text) => text.replace('"v":2', '"v":3'));
  const { code, stdout } = await command("usage", "--since", "2026-11-20", "--until", "2026-11-21", "--json");
  const { total, unreadable_lines } = JSON.parse(stdout) as {
    total: { requests: number };
    unreadable_lines: number;
  };
  assert.deepEqual([code, total.requests, unreadable_lines], [0, 1, 1]);
});

test("sums of a later format are not used; where their records are gone, the day is missing", async (t) => {
  const { command, edit } = homeOf01(t);
  for (const day of ["2026-11-01", "2026-11-17"])
    edit(`ledger/${day}.rollup`, (text) => text.replace('"rollup":1', '"rollup":99'));
  const { stdout } = await command("usage", "--since", "2026-11-01", "--until", "2026-11-21", "--json");
  assert.equal((JSON.parse(stdout) as { total: { requests: number } }).total.requests, 4);
});

test("a journal, tokens and a setting of a later version are named, and nothing is changed", async (t) => {
  const { command, edit, configFile, settings } = homeOf01(t);
  const before = readFileSync(settings, "utf8");
  edit(JOURNAL, (text) => text.replace('"version": 1', '"version": 2'));
  const disconnected = await command("disconnect", "claude-code", "--yes");
  assert.equal(disconnected.code, 1, JSON.stringify(disconnected));
  assert.match(disconnected.stderr, /was written by a newer tollkeeper/);
  assert.equal(readFileSync(settings, "utf8"), before);

  edit("tokens.json", (text) => text.replace('"v":1', '"v":2'));
  const listed = await command("token", "list");
  assert.equal(listed.code, 1, JSON.stringify(listed));
  assert.match(listed.stderr, /tokens\.json was written by a newer tollkeeper/);

  writeFileSync(configFile, readFileSync(configFile, "utf8").replace('"limits"', '"later": 1, "limits"'));
  const checked = await command("config", "check");
  assert.equal(checked.code, 1);
  assert.match(`${checked.stdout}${checked.stderr}`, /later/);
});
