import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { waitUntil } from "../../../helpers/async/wait-until.ts";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../../helpers/daemon/program.ts";
import { formatCommand } from "../../../../src/core/text/shell-words.ts";
import { noSshTerminal, startSshd } from "../../../helpers/remote/sshd.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { scratchDirectory } from "../../../helpers/process/scratch-directory.ts";

const skip = spawnSync("tmux", ["-V"]).status === 0 ? false : "not installed: tmux (apt-get install tmux)";
const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };
const run = promisify(execFile);

/** Starts a tmux of our own with one shell; ends with the test. */
async function startTmux(t: TestContext, env: NodeJS.ProcessEnv, columns: number, rows: number) {
  let socket = "";
  const tmux = async (...words: string[]) =>
    (await run("tmux", ["-f", "/dev/null", "-S", socket, ...words], { env })).stdout;
  // Before the directory of its socket is removed: what is added first ends first.
  t.after(() => tmux("kill-server").catch(() => {}));
  socket = `${scratchDirectory(t)}/tmux`;
  await tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "exec /bin/sh");
  await tmux("set-option", "-g", "window-size", "manual");
  /** Resolves to the lines of the screen once they match all patterns: any screen before that may be half drawn. */
  const until = async (...patterns: RegExp[]) => {
    let text = "";
    try {
      return await waitUntil(`${patterns.join(" and ")} on the screen`, async () => {
        text = await tmux("capture-pane", "-p");
        return patterns.every((pattern) => pattern.test(text)) ? text.trimEnd().split("\n") : null;
      });
    } catch (error) {
      throw new Error(`the screen was:\n${text}`, { cause: error });
    }
  };
  // What is typed before the prompt is echoed before it, and the prompt then stands before what the command prints.
  await until(/^[^\n]*[#$] ?$/m);
  return { tmux, type: (keys: string) => tmux("send-keys", "-l", keys), until };
}

test("top fills a tmux of 60 x 15, follows its size, and leaves nothing behind", { skip }, async (t) => {
  const daemon = await startDaemon(t);
  await (await post(daemon, "/t/codex/v1/messages", BODY)).text();
  const { tmux, type, until } = await startTmux(
    t,
    // By name: a long command would be wrapped, anywhere.
    { ...daemon.env, TERM: "xterm-256color", NODE: process.execPath, PROGRAM },
    60,
    15,
  );
  await type("echo was-here-before\n");
  await until(/^was-here-before\n[^\n]*[#$] ?$/m);
  await type('"$NODE" "$PROGRAM" top\n');
  // The last column is whole also where it ends with the terminal.
  await until(/^(?:.*\n){14}q: quit/, /^codex/m, / cost\/h↓$/m);
  await tmux("resize-window", "-x", "110", "-y", "32");
  // By the row that the footer is to be in: until then the screen may be the one before.
  await until(/^(?:.*\n){31}q: quit/, /requests\/h/);
  await tmux("resize-window", "-x", "40", "-y", "8");
  await until(/^(?:.*\n){7}q: quit/);
  await tmux("resize-window", "-x", "110", "-y", "32");
  await until(/^(?:.*\n){31}q: quit/);
  await type("q");
  // What is typed before top has ended would be top's.
  await until(/was-here-before[^]*"\$PROGRAM" top\n[^]*[#$] ?$/m);
  await type("echo and-after; stty -a | tr ' ' '\\n' | grep -x -e echo -e icanon\n");
  const after = await until(/^and-after\necho\nicanon|^and-after\nicanon\necho/m);
  assert.match(after.join("\n"), /was-here-before/);
  assert.doesNotMatch(after.join("\n"), /q: quit|requests\/h/);
});

test(
  "top over ssh follows the size of the terminal, and gives it back as it was",
  { skip: skip || noSshTerminal },
  async (t) => {
    const daemon = await startDaemon(t);
    const server = await startSshd(t);
    const env = Object.entries(daemon.env).map(([name, value]) => `${name}=${value}`);
    // A login has an environment of its own.
    const there = formatCommand(["env", ...env, process.execPath, PROGRAM, "top"]);
    const script = `${scratchDirectory(t)}/login.sh`;
    writeFileSync(script, formatCommand(server.login(there)));
    const { tmux, type, until } = await startTmux(t, { ...daemon.env, TERM: "xterm-256color" }, 80, 24);
    await type(`sh ${script}\n`);
    await until(/^(?:.*\n){23}q: quit/);
    await tmux("resize-window", "-x", "110", "-y", "32");
    await until(/^(?:.*\n){31}q: quit/);
    await type("q");
    await until(/login\.sh\n[^]*[#$] ?$/m);
    await type("stty -a | tr ' ' '\\n' | grep -x -e echo -e icanon\n");
    const after = await until(/^echo\nicanon|^icanon\necho/m);
    assert.doesNotMatch(after.join("\n"), /q: quit/);
  },
);
