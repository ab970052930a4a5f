import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { prepareHome, startDaemon, type Daemon } from "../../helpers/daemon/daemon.ts";
import { writeToolScript } from "../../helpers/tools/write-tool-script.ts";
import { waitForExit } from "../../helpers/process/processes.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";

/** Prints every argument in angle brackets. */
const SHOW_ARGUMENTS = `printf '<%s>' "$@"`;

/** Prints the variables that configure AI tools. */
const SHOW_VARIABLES = "env | grep -E '^(ANTHROPIC|OPENAI|CLAUDE)_' | sort";

/** Sends one request to the base URL in the environment, like a tool. */
const ASK = `curl -sS "$ANTHROPIC_BASE_URL/v1/messages" -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN" -H 'content-type: application/json' -d '{"model":"claude-sonnet-5","max_tokens":8,"messages":[{"role":"user","content":"hi"}]}' -o /dev/null -w '%{http_code}\\n'`;

async function run(daemon: Pick<Daemon, "env">, ...words: string[]) {
  return runProgram(["run", ...words], { env: daemon.env });
}

test("run passes everything after the -- to the command unchanged", async (t) => {
  const daemon = await startDaemon(t);
  const words = [
    "--help",
    "--version",
    "-x",
    "",
    "--",
    "007",
    "--tool=x",
    "--config",
    "/nowhere",
    "*",
    "a b",
  ];
  const { code, stdout, stderr } = await run(daemon, "--", "sh", "-c", SHOW_ARGUMENTS, "sh", ...words);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(stdout, words.map((word) => `<${word}>`).join(""));
});

test("run without a -- or a command is wrong usage", async (t) => {
  const daemon = await startDaemon(t);
  for (const words of [[], ["--"], ["claude"], ["claude", "--", "x"], ["--unknown", "--", "true"]]) {
    const { code, stderr } = await run(daemon, ...words);
    assert.equal(code, 2, words.join(" "));
    assert.match(
      stderr,
      /^error: (?:the command to run is missing; write it after --|there is no option --unknown)/,
    );
  }
});

test("run says what only a shell would take for a command, and how to type it", async (t) => {
  const { env } = prepareHome(t, {});
  for (const [words, error, hint] of [
    [
      ["echo hi"],
      '"echo hi" is not a command: the quotes make one word of it',
      /without quotes around all of it/,
    ],
    [["FOO=1", "true"], '"FOO=1" is a variable, not a command', /: DEBUG=1 tollkeeper run -- codex$/],
    [
      ["cd", "/tmp"],
      '"cd" belongs to the shell, and no program can do it for the shell',
      /&& tollkeeper run/,
    ],
  ] as const) {
    const { code, stderr } = await run({ env }, "--", ...words);
    const [first, second = ""] = stderr.split("\n");
    assert.deepEqual([code, first], [2, `error: ${error}`]);
    assert.match(second, hint);
  }
});

test("run exits like the command, or like a shell with a hint when the command cannot be run", async (t) => {
  const daemon = await startDaemon(t);
  const plain = join(daemon.home, "plain");
  writeFileSync(plain, "no program");
  const odd = join(writeToolScript(daemon.home, "odd", ""), "odd");
  writeFileSync(odd, "#!/no/such/interpreter\n");
  const cases: [number, RegExp, ...string[]][] = [
    [0, /^$/, "true"],
    [7, /^$/, "sh", "-c", "exit 7"],
    [
      127,
      /^error: no-such-program: command not found\nhint: install it, or give its path\n$/,
      "no-such-program",
    ],
    [127, /^error: .*nowhere: command not found\nhint: /, join(daemon.home, "nowhere")],
    [126, /^error: .*plain cannot be run: permission denied\nhint: .*: chmod \+x \S*plain\n$/, plain],
    [
      126,
      /^error: .*odd cannot be run: the program that .* does not exist\nhint: .*head -n 1 \S*odd\n$/,
      odd,
    ],
    [126, /^error: .* cannot be run: .*\nhint: inspect it with: ls -l \S*below\n$/, join(plain, "below")],
  ];
  for (const [expected, said, ...words] of cases) {
    const { code, stderr } = await run(daemon, "--", ...words);
    assert.equal(code, expected, words.join(" "));
    assert.match(stderr, said);
  }
});

test("run sets a known program's variables, and removes those that override them or hold a real key", async (t) => {
  const daemon = await startDaemon(t);
  const directory = writeToolScript(daemon.home, "claude", SHOW_VARIABLES);
  const env = {
    ...daemon.env,
    PATH: `${directory}:${daemon.env["PATH"]}`,
    ANTHROPIC_API_KEY: "sk-of-mine",
    CLAUDE_CODE_USE_BEDROCK: "1",
    OPENAI_API_KEY: "sk-for-another",
  };
  const { stdout } = await runProgram(["run", "--", "claude"], { env });
  assert.match(stdout, new RegExp(`^ANTHROPIC_BASE_URL=${daemon.url}/t/claude-code$`, "m"));
  assert.match(stdout, /^ANTHROPIC_AUTH_TOKEN=tk-claude-code$/m);
  assert.doesNotMatch(stdout, /sk-of-mine|BEDROCK/);
  // Another vendor's key does no harm, and programs that the tool starts may need it.
  assert.match(stdout, /^OPENAI_API_KEY=sk-for-another$/m);
});

test("run sets the SDK variables for an unknown program, marked with its name", async (t) => {
  const daemon = await startDaemon(t);
  const program = join(writeToolScript(daemon.home, "My-Agent", SHOW_VARIABLES), "My-Agent");
  const { stdout } = await run(daemon, "--", program);
  assert.match(stdout, new RegExp(`^ANTHROPIC_BASE_URL=${daemon.url}/t/my-agent$`, "m"));
  assert.match(stdout, new RegExp(`^OPENAI_BASE_URL=${daemon.url}/t/my-agent/v1$`, "m"));
  assert.doesNotMatch(stdout, /_API_KEY=(?!tk-my-agent$)/m);
  const named = await run(daemon, "--tool", "nightly", "--", program);
  assert.match(named.stdout, new RegExp(`^OPENAI_BASE_URL=${daemon.url}/t/nightly/v1$`, "m"));
  // `--tool` also says which tool a wrapper starts.
  const wrapped = await run(daemon, "--tool", "claude", "--", program);
  assert.match(wrapped.stdout, /^ANTHROPIC_AUTH_TOKEN=tk-claude-code$/m);
});

test("run gives a tool's flags to no other program", async (t) => {
  const daemon = await startDaemon(t);
  const directory = writeToolScript(daemon.home, "npx", SHOW_ARGUMENTS);
  writeToolScript(daemon.home, "codex", SHOW_ARGUMENTS);
  const refused = await run(daemon, "--tool", "codex", "--", join(directory, "npx"), "@openai/codex");
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
  assert.match(
    refused.stderr,
    /^error: Codex is pointed at tollkeeper by flags, which npx does not take\nhint: /,
  );
  assert.match(refused.stderr, /tollkeeper connect codex\n.* -c .*base_url/);
  const own = await run(daemon, "--tool", "nightly", "--", join(directory, "codex"), "exec");
  assert.match(own.stdout, /^<-c>.*\/t\/nightly\/v1.*<exec>$/);
});

test("run refuses a tool that follows neither variables nor flags, even without a daemon", async (t) => {
  const { env } = prepareHome(t, {});
  const cline = await run({ env }, "--tool", "cline", "--", "true");
  assert.equal(cline.code, 1);
  assert.match(
    cline.stderr,
    /^error: Cline reads neither environment variables nor flags for this\nhint: connect it instead: tollkeeper connect cline\n$/,
  );
  const cursor = await run({ env }, "--tool", "cursor", "--", "true");
  assert.match(
    cursor.stderr,
    /\nhint: to see what to enter by hand, type: tollkeeper connect cursor --print\n$/,
  );
});

test("run requires --tool for a program whose name is no valid tool name", async (t) => {
  const daemon = await startDaemon(t);
  const program = join(writeToolScript(daemon.home, "_x", SHOW_VARIABLES), "_x");
  const { code, stderr } = await run(daemon, "--", program);
  assert.equal(code, 1);
  assert.match(stderr, /^error: "_x" cannot be a tool's name\nhint: .*--tool NAME\n$/);
});

test("the ledger has the requests of a command under the tool's name, by path", async (t) => {
  const daemon = await startDaemon(t);
  const program = join(writeToolScript(daemon.home, "claude", ASK), "claude");
  assert.equal((await run(daemon, "--", program)).stdout, "200\n");
  const record = (await daemon.ledger()).find(({ route }) => route === "/messages");
  assert.deepEqual([record?.tool, record?.tool_by], ["claude-code", "path"]);
});

test("run does not start the command without a daemon, and says how to start one", async (t) => {
  const { home, env } = prepareHome(t, {});
  const mark = join(home, "was-run");
  const { code, stderr } = await run({ env }, "--", "touch", mark);
  assert.equal(code, 1);
  assert.match(stderr, /^error: tollkeeper is not running\nhint: [^]*tollkeeper serve/);
  assert.ok(!existsSync(mark));
});

test("run reports a program that does not exist, also when no daemon runs", async (t) => {
  const { env } = prepareHome(t, {});
  const { code, stderr } = await run({ env }, "--", "no-such-program");
  assert.deepEqual(
    [code, stderr],
    [127, "error: no-such-program: command not found\nhint: install it, or give its path\n"],
  );
});

test("run passes standard input to the command", async (t) => {
  const daemon = await startDaemon(t);
  const { stdout } = await runProgram(["run", "--", "cat"], {
    env: daemon.env,
    input: "piped in",
    isAlone: true,
  });
  assert.equal(stdout, "piped in");
});

/** Starts a daemon that requires tokens. */
const startWithTokens = (t: TestContext) => startDaemon(t, { config: { access: "token" } });

test("run leases a token to the command where tokens are required, until the command ends", async (t) => {
  const daemon = await startWithTokens(t);
  const show = `echo "$ANTHROPIC_AUTH_TOKEN"; ${ASK}`;
  const program = join(writeToolScript(daemon.home, "claude", show), "claude");
  const { stdout, stderr } = await run(daemon, "--", program);
  const [token = "", status] = stdout.split("\n");
  assert.deepEqual([status, stderr], ["200", ""]);
  const record = (await daemon.ledger()).find(({ route }) => route === "/messages");
  assert.equal(record?.tool, "claude-code");
  await waitUntil("the lease to end", async () => ((await statusWith(daemon, token)) === 400 ? true : null));
});

test("a leased token becomes invalid when run is killed", { skip: !existsSync("/proc") }, async (t) => {
  const daemon = await startWithTokens(t);
  const show = `echo "$ANTHROPIC_AUTH_TOKEN"; exec sleep 60`;
  const program = join(writeToolScript(daemon.home, "claude", `echo $$; ${show}`), "claude");
  const child = spawn(process.execPath, [PROGRAM, "run", "--", program], {
    env: daemon.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (said += piece));
  const [pid = "", token = ""] = await waitUntil("the token", () => {
    const lines = said.split("\n");
    return lines.length > 2 ? lines : null;
  });
  assert.equal(await statusWith(daemon, token), 200);
  child.kill("SIGKILL");
  await once(child, "exit");
  await waitUntil("the lease to end", async () => ((await statusWith(daemon, token)) === 400 ? true : null));
  process.kill(Number(pid), "SIGKILL");
  await waitForExit(Number(pid));
});

async function statusWith({ url }: Daemon, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/t/claude-code/v1/models`, { headers });
  await response.text();
  return response.status;
}
