// E9, a daemon's answers: what listens on the control socket may be of another version, or another program. Whatever it answers, commands
// print no line and no control character of its making, and say that they do not understand it instead of guessing.
import assert from "node:assert/strict";
import { globalAgent } from "node:http";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { askDaemon, openControlSocket, type ControlHandlers } from "../../src/adapters/control-socket.ts";
import { Failure } from "../../src/core/failure.ts";
import { isObject } from "../../src/core/json.ts";
import { ANSWER_SHAPES } from "../../src/daemon/control/answer-shapes.ts";
import { askRunning } from "../../src/daemon/running-daemon.ts";
import { controlHandlers } from "../helpers/daemon/control-handlers.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { MemoryLog } from "../helpers/gate/memory.ts";
import { setEnvironment } from "../helpers/process/set-environment.ts";

/** Begins and ends lines, clears the screen, and sets the window's title. */
const EVIL = "\u001b[2Jevil\u001b]0;title\u0007\nFORGED\r\nFORGED\u2028FORGED\u009b31m";

const CONFIG = {
  budgets: [{ usd: 20, per: "day" }],
  groups: { small: { models: ["m*"] } },
  tools: { codex: { group: "small" } },
};

const QUESTIONS = ["status", "running", "statusline", "budgets", "metrics", "check-pass"] as const;

let recorded: ReturnType<typeof recordAnswers> | null = null;

const cleanups: (() => unknown)[] = [];

after(async () => {
  for (const cleanUp of cleanups) await cleanUp();
});

/** Returns a daemon that has stopped, and what it has answered. It is the same one for all tests. */
function stoppedDaemon() {
  return (recorded ??= recordAnswers());
}

/** Ends what it is given to at the end of the file. */
const forTheFile = { after: (cleanUp: () => unknown) => cleanups.push(cleanUp) } as unknown as TestContext;

async function recordAnswers() {
  const daemon = await startDaemon(forTheFile, { config: CONFIG });
  await (await fetch(`${daemon.url}/v1/nothing`)).text();
  await daemon.command("pause", "codex");
  await daemon.command("budget", "lift", "zed", "--new");
  const path = join(daemon.env["XDG_RUNTIME_DIR"] ?? "", "tollkeeper", "control.sock");
  const answers: Record<string, unknown> = {};
  for (const question of QUESTIONS) answers[question] = await askDaemon(path, question);
  answers["test-keys"] = await askDaemon(path, "test-keys", { config: daemon.configFile });
  const { pauses } = answers["status"] as { pauses: unknown };
  answers["pause"] = { pauses, cut: 0 };
  answers["resume"] = { pauses, wasPaused: true };
  answers["lift-budgets"] = answers["reset-budget"] = answers["budgets"];
  answers["approve-dashboard"] = {};
  await daemon.stop();
  return { daemon, path, answers };
}

/** Listens in the daemon's place, and answers each question with what `answer` returns. */
async function answerWith(
  t: TestContext,
  path: string,
  answers: Record<string, unknown>,
  answer: (value: unknown) => unknown,
) {
  const given = Object.keys(answers).map((question) => [question, () => answer(answers[question])]);
  const handlers = Object.fromEntries(given) as Partial<ControlHandlers>;
  const socket = await openControlSocket(path, controlHandlers(handlers), new MemoryLog());
  t.after(async () => {
    await socket.close();
    // Its connections would be used again for the next socket at this path.
    globalAgent.destroy();
  });
  return socket;
}

/** Commands that print something of an answer. */
const COMMANDS = [
  ["status"],
  ["dashboard", "--print"],
  ["budget"],
  ["budget", "lift", "--all"],
  ["budget", "reset"],
  ["pause", "codex"],
  ["resume", "codex"],
  ["metrics"],
  ["statusline"],
  ["top"],
  ["serve"],
];

function runAll(daemon: Daemon, commands = COMMANDS) {
  return Promise.all(commands.map(async (words) => ({ words, ...(await daemon.command(...words)) })));
}

function assertClean(words: readonly string[], { stdout, stderr }: { stdout: string; stderr: string }): void {
  const all = stdout + stderr;
  assert.doesNotMatch(all, /^\W*FORGED/m, words.join(" "));
  assert.doesNotMatch(all, /[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}]/u, words.join(" "));
}

/** Puts it into every text, except those that are times, words of a list, paths or addresses. */
function inject(value: unknown): unknown {
  if (typeof value === "string")
    return /^\d{4}-|^\/|^127\.|^(?:serving|stopping|open|token|all|tool|group|usd|day|refuse|warn|dearest|(?:key|client)$|# HELP)/.test(
      value,
    )
      ? value
      : `${value}${EVIL}`;
  if (Array.isArray(value)) return value.map(inject);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, below]) => [name, inject(below)]));
}

test("no text of an answer forges a line or controls a terminal", async (t) => {
  const { daemon, path, answers } = await stoppedDaemon();
  await answerWith(t, path, answers, inject);
  for (const { words, ...result } of await runAll(daemon)) assertClean(words, result);
  const { stdout } = await daemon.command("status");
  assert.match(stdout, /^daemon +tollkeeper \S*\\u001b\[2Jevil.*FORGED\\u000d\\u000aFORGED\\u2028FORGED/m);
});

test("no metric that an answer has controls a terminal", async (t) => {
  const { daemon, path, answers } = await stoppedDaemon();
  await answerWith(t, path, answers, (value) =>
    isObject(value) && "hasUsage" in value ? { text: `a 1\n${EVIL}\n`, hasUsage: true } : value,
  );
  const { code, stdout } = await daemon.command("metrics");
  assert.equal(code, 0);
  assert.match(stdout, /^a 1\n\\u001b\[2Jevil/);
  assert.doesNotMatch(stdout, /[^\P{Cc}\n\t]/u);
});

test("a refusal by a daemon is one line, and so is what it says to type", async (t) => {
  const { daemon, path, answers } = await stoppedDaemon();
  await answerWith(t, path, answers, () => {
    throw new Failure(`no${EVIL}`, `never${EVIL}; if x: y${EVIL}`);
  });
  for (const { words, ...result } of await runAll(daemon)) {
    assertClean(words, result);
    // A prompt shows no errors.
    if (words[0] === "statusline") continue;
    assert.match(
      result.stderr,
      /^error: no\\u001b\[2Jevil.*\nhint: never.*\n( {6}if x: .*\n)?$/,
      words.join(" "),
    );
  }
});

/** Ways in which an answer may not be what a command expects. */
const WRONG: Record<string, (value: unknown) => unknown> = {
  "an empty object": () => ({}),
  "a list": () => [],
  "a text": () => Object("yes") as object,
  "other kinds of values": otherKinds,
  "members that are null": (value) => (isObject(value) ? nulled(value) : value),
};

function nulled(value: object): object {
  return Object.fromEntries(Object.keys(value).map((name) => [name, null]));
}

function otherKinds(value: unknown): unknown {
  if (typeof value === "string") return { text: value };
  if (typeof value === "number") return "NaN";
  if (typeof value === "boolean") return [];
  if (Array.isArray(value)) return value.map(otherKinds);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, below]) => [name, otherKinds(below)]));
}

for (const [what, change] of Object.entries(WRONG)) {
  test(`a command says that it does not understand ${what}`, async (t) => {
    const { daemon, path, answers } = await stoppedDaemon();
    await answerWith(t, path, answers, change);
    setEnvironment(t, daemon.env);
    for (const question of typedKeysOf(ANSWER_SHAPES)) {
      // It has nothing that a command needs.
      if (question === "approve-dashboard" && what !== "a list" && what !== "a text") continue;
      await assert.rejects(askRunning(question), (error) => {
        assert.ok(error instanceof Failure);
        assert.match(error.message, new RegExp(`^the daemon's answer to "${question}" is not understood: `));
        assert.match(error.hint ?? "", /tollkeeper service restart$/);
        return true;
      });
    }
    const [status, line] = await runAll(daemon, [["status"], ["statusline"]]);
    assert.equal(status?.code, 1);
    assert.match(
      status?.stderr ?? "",
      /^error: the daemon's answer to "status" is not understood: .*\nhint: .*\n$/,
    );
    assert.equal(line?.stdout, "tollkeeper needs a restart\n");
  });
}

function typedKeysOf<Key extends string>(value: Record<Key, unknown>): Key[] {
  return Object.keys(value) as Key[];
}

test("an answer with more members than a command knows is understood", async (t) => {
  const { daemon, path, answers } = await stoppedDaemon();
  await answerWith(t, path, answers, (value) => (isObject(value) ? { ...value, later: EVIL } : value));
  for (const words of [["status"], ["budget"], ["top"]]) {
    const result = await daemon.command(...words);
    assert.equal(result.code, 0, result.stderr);
    assertClean(words, result);
  }
});
