// `run` and `env` point a tool at tollkeeper in no file: for one that is signed in, neither lets the key pay without being told to.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { noTerminal, runOnTerminal } from "../../helpers/process/terminal.ts";
import { writeToolScript } from "../../helpers/tools/write-tool-script.ts";

const LOGINS = { claude: ".claude/.credentials.json", codex: ".codex/auth.json" };

/** Prints what decides who pays. */
const SHOW = `env | grep -E '^(ANTHROPIC|CODEX)_' | sort; printf '<%s>' "$@"`;

/** Starts a daemon of a person who is signed in to both tools, in files that cannot be read. */
async function start(
  t: TestContext,
  { plans = [], isSignedIn = true }: { plans?: string[]; isSignedIn?: boolean } = {},
) {
  const daemon = await startDaemon(t, { config: { plans } });
  for (const login of isSignedIn ? Object.values(LOGINS) : []) {
    mkdirSync(dirname(join(daemon.home, login)), { recursive: true });
    writeFileSync(join(daemon.home, login), "sentinel-of-a-login");
    chmodSync(join(daemon.home, login), 0);
  }
  for (const name of Object.keys(LOGINS)) writeToolScript(daemon.home, name, SHOW);
  const env = {
    ...daemon.env,
    PATH: `${join(daemon.home, "bin")}:${daemon.env["PATH"]}`,
    ANTHROPIC_API_KEY: "sk-of-mine",
    CODEX_API_KEY: "sk-of-mine",
  };
  const run = (...words: string[]) => runProgram(words, { env });
  return { ...daemon, env, run };
}

for (const [name, program, title] of [
  ["claude-code", "claude", "Claude Code"],
  ["codex", "codex", "Codex"],
] as const) {
  test(`run and env of a signed-in ${name} without an answer start nothing, and name both commands`, async (t) => {
    const { run } = await start(t, {});
    for (const [words, typed] of [
      [
        ["run", "--", program, "secret words"],
        (account: string) => `run --account ${account} -- ${program} ARGUMENTS`,
      ],
      [["env", name, "--shell", "sh"], (account: string) => `env ${name} --account ${account}`],
    ] as const) {
      const { code, stdout, stderr } = await run(...words);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.equal(
        stderr,
        `error: ${title} has a saved login, and tollkeeper cannot know who is to pay: your key or its plan\n` +
          `hint: to have the key pay, type: tollkeeper ${typed("key")}\n` +
          `      to have the plan pay, type: tollkeeper ${typed("plan")}\n`,
      );
    }
  });

  test(`run and env give a signed-in ${name} the address of its plan, and nothing that takes the login's place`, async (t) => {
    const { run, url } = await start(t, { plans: [name] });
    for (const option of [[], ["--account", "plan"]]) {
      const { code, stdout, stderr } = await run("run", ...option, "--", program, "-p", "hi");
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, new RegExp(`${url}/t/${name}/plan`));
      assert.match(stdout, /<-p><hi>$/);
      const own = name === "claude-code" ? /^ANTHROPIC_(?:API_KEY|AUTH_TOKEN)=/m : /^CODEX_API_KEY=/m;
      assert.doesNotMatch(stdout, own);
    }
    const { stdout } = await run("env", name, "--shell", "sh");
    assert.match(stdout, name === "claude-code" ? /^unset ANTHROPIC_API_KEY$/m : /^unset CODEX_API_KEY$/m);
  });

  test(`--account key has the key pay for a signed-in ${name}, and without a login there is no question`, async (t) => {
    const [signedIn, other] = [await start(t, {}), await start(t, { isSignedIn: false })];
    for (const [{ run, url }, option] of [
      [signedIn, ["--account", "key"]],
      [other, []],
    ] as const) {
      const { code, stdout } = await run("run", ...option, "--", program);
      assert.equal(code, 0);
      assert.match(stdout, new RegExp(`${url}/t/${name}(?!/plan)`));
    }
  });
}

test("a plan that may not pass, another name for the tool and a tool without a plan are said before anything starts", async (t) => {
  const { run } = await start(t, { plans: ["codex"] });
  for (const [words, said] of [
    [
      ["run", "--account", "plan", "--", "claude"],
      /"plans" in its configuration does not list claude-code\nhint: .*config set plans '\["codex","claude-code"\]'/,
    ],
    [
      ["run", "--account", "plan", "--tool", "nightly", "--", "codex"],
      /pays only for requests under the name codex, not nightly\nhint: [^]*--account key -- codex/,
    ],
    [
      ["run", "--account", "plan", "--", "env"],
      /^error: tollkeeper knows no plan of env, only those of claude-code and codex\nhint: to have the plan of Claude Code pay, type: tollkeeper run --tool claude-code --account plan -- env\n {6}to have the key pay, type: tollkeeper run --account key -- env\n$/,
    ],
    [
      ["env", "nightly", "--account", "plan"],
      /^error: [^\n]*no plan of nightly[^\n]*\nhint: [^\n]*tollkeeper env claude-code --account plan\n/,
    ],
    [
      ["env", "opencode", "--account", "plan"],
      /^error: opencode cannot keep the login of a plan[^\n]*\nhint: .*env opencode --account key/,
    ],
  ] as const) {
    const { code, stdout, stderr } = await run(...words);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, said);
  }
});

test("what connect has settled holds for run, and a choice that the settings would override is refused", async (t) => {
  const { command, run, url } = await start(t, {});
  const connected = await command("connect", "claude-code", "--yes", "--account", "key");
  assert.equal(connected.code, 0, connected.stderr);
  const { stdout } = await run("run", "--", "claude");
  assert.match(stdout, new RegExp(`^ANTHROPIC_BASE_URL=${url}/t/claude-code$`, "m"));
  const refused = await run("run", "--account", "plan", "--", "claude");
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
  assert.match(
    refused.stderr,
    /no command can override that for one run\nhint: .*connect claude-code --account plan/,
  );
});

const KEY_PAYS =
  "your key pays, not the plan that it is signed in with: ANTHROPIC_API_KEY comes before its login";

test("run says before a program starts that a signed-in tool which it may start would use the key, and what settles that", async (t) => {
  const { home, run, url } = await start(t, { plans: ["claude-code"] });
  writeToolScript(home, "nightly.sh", "claude -p hi; codex");
  const { code, stdout, stderr } = await run("run", "--", "nightly.sh", "secret words");
  assert.equal(code, 0);
  // What is said is so. Codex does not read these variables.
  assert.match(stdout, /^ANTHROPIC_API_KEY=tk-nightly\.sh$/m);
  assert.match(stdout, new RegExp(`^ANTHROPIC_BASE_URL=${url}/t/nightly\\.sh$`, "m"));
  assert.equal(
    stderr,
    `note: if nightly.sh starts Claude Code, ${KEY_PAYS}\n` +
      "hint: to have the plan pay, type: tollkeeper run --tool claude-code --account plan -- nightly.sh ARGUMENTS\n" +
      "      to have the key pay without this note, type: tollkeeper run --account key -- nightly.sh ARGUMENTS\n",
  );
  const settled = await run("run", "--account", "key", "--", "nightly.sh");
  assert.deepEqual([settled.code, settled.stderr], [0, ""]);
  const byPlan = await run("run", "--tool", "claude-code", "--account", "plan", "--", "nightly.sh");
  assert.deepEqual([byPlan.code, byPlan.stderr], [0, ""]);
  assert.match(byPlan.stdout, new RegExp(`^ANTHROPIC_BASE_URL=${url}/t/claude-code/plan$`, "m"));
  assert.doesNotMatch(byPlan.stdout, /^ANTHROPIC_(?:API_KEY|AUTH_TOKEN)=/m);
});

test("env says the same of what the shell starts, and prints the variables all the same", async (t) => {
  const { run } = await start(t);
  const { code, stdout, stderr } = await run("env", "nightly", "--shell", "sh");
  assert.equal(code, 0);
  assert.match(stdout, /^export ANTHROPIC_API_KEY=/m);
  assert.equal(
    stderr,
    `note: if this shell starts Claude Code, ${KEY_PAYS}\n` +
      "hint: to have the plan pay, type: tollkeeper env claude-code --account plan\n" +
      "      to have the key pay without this note, type: tollkeeper env nightly --account key\n",
  );
  assert.equal((await run("env", "nightly", "--shell", "sh", "--account", "key")).stderr, "");
  assert.equal((await run("env", "aider", "--shell", "sh", "--model", "gpt-5")).stderr, "");
});

test("nothing is said of a program's tools without a login, or if connect has settled that the key pays", async (t) => {
  const other = await start(t, { isSignedIn: false });
  assert.equal((await other.run("run", "--", "env")).stderr, "");
  const { command, run } = await start(t);
  await command("connect", "claude-code", "--yes", "--account", "key");
  assert.equal((await run("run", "--", "env")).stderr, "");
});

test("of a tool that is connected with its plan, run says that a program's variables have its requests refused", async (t) => {
  const { command, run } = await start(t);
  await command("connect", "claude-code", "--yes", "--account", "plan");
  assert.match(
    (await run("run", "--", "env")).stderr,
    /^note: if env starts Claude Code, tollkeeper refuses its requests: ANTHROPIC_API_KEY takes the place of its plan's login\nhint: [^]*\n {6}to leave it at that without this note, type: tollkeeper run --account key -- env\n$/,
  );
});

test("connect sdk says before it is asked that in new terminals a signed-in tool would use the key", async (t) => {
  const { command } = await start(t);
  const { stdout } = await command("connect", "sdk", "--dry-run");
  assert.match(
    stdout,
    /^Note that in new terminals your key would pay for Claude Code, not the plan that it is signed in with: ANTHROPIC_API_KEY comes before its login\. [^]*\n {2}tollkeeper run -- COMMAND$/m,
  );
  assert.doesNotMatch((await command("connect", "sdk", "--dry-run", "--account", "key")).stdout, /Note that/);
});

test(
  "at a terminal run asks who pays, and starts the tool with the answer",
  { skip: noTerminal },
  async (t) => {
    const { env, url } = await start(t, {});
    const argv = [process.execPath, PROGRAM, "run", "--", "claude"];
    const answered = await runOnTerminal(argv, { env }, [["Type key or plan: ", "key\n"]]);
    assert.equal(answered.code, 0, answered.text);
    assert.match(answered.text, new RegExp(`ANTHROPIC_BASE_URL=${url}/t/claude-code\r?\n`));
    const ended = await runOnTerminal(argv, { env }, [["Type key or plan: ", "\u0004"]]);
    assert.equal(ended.code, 1, ended.text);
    assert.doesNotMatch(ended.text, /ANTHROPIC_/);
  },
);
