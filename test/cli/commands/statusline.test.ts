import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { readStatuslineLine } from "../../../src/cli/commands/statusline/arguments.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { launchDaemon, prepareHome, startDaemon } from "../../helpers/daemon/daemon.ts";
import { PROGRAM, resultOf } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import { noTerminal, runOnTerminal } from "../../helpers/process/terminal.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { MESSAGE, sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

/** Draws the line. `input`: what is written to it; null leaves its standard input open and silent. */
async function draw(env: Record<string, string>, input: string | null, ...words: string[]) {
  if (input !== null) return runProgram(["statusline", ...words], { env, input });
  const child = spawn(process.execPath, [PROGRAM, "statusline", ...words], { env });
  const result = await resultOf(child, words);
  child.stdin.destroy();
  return result;
}

const says = (line: string) => ({ code: 0, stdout: `${line}\n`, stderr: "" });

/** The first answer may come before the ledger has been read, and then says that it is not everything; or too late for a line. */
async function untilWhole(env: Record<string, string>): Promise<void> {
  await waitUntil("the ledger has been read", async () => {
    const { stdout } = await draw(env, "", "--format", "{today}");
    return stdout.startsWith("$") ? true : null;
  });
}

/** Costs $0.54: 100,000 tokens at $3, 300,000 from cache at $0.30, 10,000 of output at $15. */
const USAGE = { input_tokens: 100_000, cache_read_input_tokens: 300_000, output_tokens: 10_000 };

/** A configuration whose upstream responds with that. It takes a key, so only `m` has a price. */
async function pricedConfig(t: TestContext) {
  const { baseUrl } = await startUpstream(t, ({ body }, res) => {
    const { model } = JSON.parse(body.toString()) as { model: string };
    sendJson(res, { ...MESSAGE, model, usage: USAGE });
  });
  const { config } = writeKeyFile(t, baseUrl, "not-a-real-key");
  const prices = { m: { input: 3, cacheRead: 0.3, output: 15 } };
  return { config: { ...config, prices } };
}

/** Sends a request as Claude Code's session would. */
async function ask({ url }: { url: string }, session: string, model = "m"): Promise<void> {
  const headers = { "content-type": "application/json", "x-claude-code-session-id": session };
  const body = JSON.stringify({ model, max_tokens: 1, messages: [{ role: "user", content: "hi" }] });
  const res = await fetch(`${url}/v1/messages`, { method: "POST", headers, body });
  assert.equal(res.status, 200, await res.text());
}

test("the line has this session's and today's costs and the share of the cache, and the daemon's restart changes nothing", async (t) => {
  const options = await pricedConfig(t);
  const home = scratchDirectory(t);
  for (const isRestarted of [false, true]) {
    const { ready, kill } = launchDaemon(home, options);
    t.after(kill);
    const daemon = await ready;
    if (!isRestarted) {
      await untilWhole(daemon.env);
      for (const session of ["one", "one", "two"]) await ask(daemon, session);
    } else await untilWhole(daemon.env);
    const line = (input: object) => draw(daemon.env, JSON.stringify(input));
    assert.deepEqual(await line({ session_id: "one" }), says("$1.08 session · $1.62 today · 75% cached"));
    assert.deepEqual(await line({ session_id: "new" }), says("$0.00 session · $1.62 today"));
    assert.deepEqual(await draw(daemon.env, ""), says("$1.62 today · 75% cached"));
    assert.deepEqual(await draw(daemon.env, "no JSON"), says("$1.62 today · 75% cached"));
    await daemon.stop();
  }
});

test("a model without a price makes the sums lower bounds, and is named", async (t) => {
  const daemon = await startDaemon(t, await pricedConfig(t));
  await untilWhole(daemon.env);
  await ask(daemon, "one", "house-1");
  const input = JSON.stringify({ session_id: "one" });
  assert.deepEqual(
    await draw(daemon.env, input),
    says("unpriced session · unpriced today · 75% cached · without a price: house-1"),
  );
  await ask(daemon, "one", "house-2");
  await ask(daemon, "one");
  assert.deepEqual(
    await draw(daemon.env, input, "--format", "{session}{, not |unpriced|}"),
    says("≥$0.540, not house-1 and 1 more"),
  );
});

test("what the sandbox responded to costs nothing and is said to be made up", async (t) => {
  const daemon = await startDaemon(t);
  await untilWhole(daemon.env);
  await ask(daemon, "one", "claude-sonnet-5");
  const input = JSON.stringify({ session_id: "one" });
  assert.deepEqual(await draw(daemon.env, input), says("sandbox session · $0.00 today"));
});

test("without a daemon the line is short, and the exit code 0", async (t) => {
  const { env } = prepareHome(t, {});
  assert.deepEqual(await draw(env, ""), says("tollkeeper is off"));
  assert.deepEqual(await draw(env, "{", "--format={today}"), says("tollkeeper is off"));
});

test("somebody else's pipe that is never written to holds up nothing", async (t) => {
  const { env } = prepareHome(t, {});
  assert.deepEqual(await draw(env, null), says("tollkeeper is off"));
});

test("a terminal is not read from", { skip: noTerminal }, async (t) => {
  const { env } = prepareHome(t, {});
  const { code, text: screen } = await runOnTerminal([process.execPath, PROGRAM, "statusline"], { env }, []);
  assert.deepEqual([code, screen], [0, "tollkeeper is off\r\n"]);
});

test("styles are drawn unless NO_COLOR is set", async (t) => {
  const daemon = await startDaemon(t);
  await untilWhole(daemon.env);
  const format = ["--format", "{bold}{today}{reset}"];
  assert.deepEqual(await draw(daemon.env, "", ...format), says("\u001B[1m$0.00\u001B[0m"));
  assert.deepEqual(await draw({ ...daemon.env, NO_COLOR: "1" }, "", ...format), says("$0.00"));
});

for (const [words, read] of [
  [["statusline"], {}],
  [["statusline", "--format", "{today} x"], { format: "{today} x" }],
  [["statusline", "--format={today}"], { format: "{today}" }],
  [["statusline", "--format="], { format: "" }],
  [["statusline", "--format"], null],
  [["statusline", "--format", "--help"], null],
  [["statusline", "--help"], null],
  [["statusline", "--format", "a", "b"], null],
  [["statusline", "--format=a", "b"], null],
  [["status"], null],
] as const) {
  test(`${words.join(" ")} is ${read === null ? "left to yargs" : "read without yargs"}`, () => {
    assert.deepEqual(readStatuslineLine(words), read);
  });
}

/** What `connect` has Claude Code run. */
const BUNDLE = join(dirname(realpathSync(PROGRAM)), "tollkeeper-statusline.js");

test("the bundle for Claude Code draws the same line, and does not fail either", async (t) => {
  const { env } = prepareHome(t, {});
  const run = (...words: string[]) =>
    execFileSync(process.execPath, [BUNDLE, ...words], { env, input: "" }).toString();
  assert.equal(run("--format", "{today}"), "tollkeeper is off\n");
  assert.equal(run("--fromat", "{today}"), "see: tollkeeper statusline --help\n");
});

test("that bundle is one small file, with neither yargs, the configuration nor an HTTP client", () => {
  const bundle = readFileSync(BUNDLE, "utf8");
  const imported = [...bundle.matchAll(/\bfrom\s*"([^"]+)"|\bimport\s*"([^"]+)"/g)];
  const allowed = ["node:fs", "node:net", "node:os", "node:path", "node:url"];
  const names = new Set(imported.map(([, one = "", other = one]) => other));
  assert.deepEqual(names, new Set(allowed));
  assert.ok(bundle.length < 60_000, `${bundle.length}`);
});

test("a bar gets what it reads also where no daemon runs", async (t) => {
  const { env } = prepareHome(t, {});
  const { code, stdout, stderr } = await draw(env, "", "--format", "waybar");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(JSON.parse(stdout), { text: "off", tooltip: "tollkeeper is off", class: "off" });
  assert.deepEqual(await draw(env, "", "--format=swiftbar"), says("–\n---\ntollkeeper is off"));
});
