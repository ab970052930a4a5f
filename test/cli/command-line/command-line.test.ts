import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { programVersion } from "../../../src/adapters/program.ts";
import { openCommandLine, runProgram } from "../../helpers/daemon/run-program.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { removeDirectory, scratchDirectory } from "../../helpers/process/scratch-directory.ts";

function environment(t: TestContext): Record<string, string> {
  return environmentIn(scratchDirectory(t));
}

function environmentIn(home: string): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: home, XDG_RUNTIME_DIR: mkdtempSync(join(home, "run-")) };
}

async function run(t: TestContext, line: string) {
  return runProgram(line === "" ? [] : line.split(" "), { env: environment(t) });
}

test("without a command, the short help is printed on standard error, and the exit code is that of wrong usage", async (t) => {
  const { code, stdout, stderr } = await run(t, "");
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^tollkeeper keeps your API key out of your tools[^]*tollkeeper --help/);
});

for (const line of ["help", "--help", "-h"]) {
  test(`tollkeeper ${line} lists the commands, and the options that all of them take`, async (t) => {
    const { code, stdout } = await run(t, line);
    assert.equal(code, 0);
    assert.match(stdout, /tollkeeper usage [^]*--config [^]*-h, --help/);
  });
}

test("the general help names the program in the same way on every line, in columns", async (t) => {
  const { stdout } = await run(t, "--help");
  const lines = stdout.split("\n").filter((line) => /^ {2}\S*tollkeeper /.test(line));
  assert.ok(lines.length > 25, stdout);
  assert.equal(new Set(lines.map((line) => line.slice(2).split(/ [a-z]/)[0])).size, 1);
  assert.equal(
    new Set(lines.map((line) => line.slice(4).search(/ {2,}\S/) > 0 && line.search(/(?<= {2})[A-Z]/))).size,
    1,
  );
  assert.match(stdout, /^Set up:$[^]*^See usage and costs:$[^]*^Find what is wrong:$/m);
});

test("the help of the status line, which runs without yargs, shows its options and examples", async (t) => {
  const { code, stdout } = await run(t, "statusline --help");
  assert.equal(code, 0);
  assert.match(stdout, /--format [^]*\n\nExamples:\n {2}tollkeeper statusline\n/);
});

for (const line of ["help usage", "usage --help", "usage -h", "--help usage"]) {
  test(`tollkeeper ${line} shows the options of usage and examples`, async (t) => {
    const { code, stdout } = await run(t, line);
    assert.equal(code, 0);
    assert.match(stdout, /--since [^]*\n\nExamples:\n {2}tollkeeper usage\n {2}tollkeeper usage --by model/);
  });
}

for (const line of ["version", "--version", "-v"]) {
  test(`tollkeeper ${line} prints the version alone`, async (t) => {
    assert.deepEqual(await run(t, line), { code: 0, stdout: `${programVersion()}\n`, stderr: "" });
  });
}

const inTurn = mkdtempSync(join(tmpdir(), "tollkeeper-"));
after(() => removeDirectory(inTurn));
/** Commands whose own process is not the subject: the first of each kind is run as a program above or below. */
const runInTurn = openCommandLine(environmentIn(inTurn));

test("wrong usage ends the program with its own exit code", async (t) => {
  const { code, stdout, stderr } = await run(t, "usag");
  assert.deepEqual([code, stdout], [2, ""]);
  assert.deepEqual(await runInTurn("usag"), { code, stdout, stderr });
});

for (const [line, error, hint] of [
  [
    "usag",
    'there is no command "usag"; did you mean "usage"?',
    "to see all commands, type: tollkeeper --help",
  ],
  ["xyzzy", 'there is no command "xyzzy"', /--help$/],
  ["xyzzy --help", 'there is no command "xyzzy"', /--help$/],
  ["usag -h", 'there is no command "usag"; did you mean "usage"?', /--help$/],
  [
    "service xyzzy --help",
    /^there is no "service xyzzy"; the subcommands are: /,
    /tollkeeper service install/,
  ],
  ["stop", 'there is no command "stop"', /^to stop tollkeeper, type: tollkeeper service stop$/],
  [
    "start",
    'there is no command "start"',
    /type: tollkeeper service start\n {6}or to run in this terminal, type: tollkeeper serve$/,
  ],
  ["restart", 'there is no command "restart"', /tollkeeper service restart$/],
  ["logs --follow", 'there is no command "logs"', /tollkeeper service logs$/],
  ["login", 'there is no command "login"', /tollkeeper key set$/],
  ["logout", 'there is no command "logout"', /tollkeeper key remove$/],
  ["prune --before 2026-01", 'there is no command "prune"', /tollkeeper ledger prune --before 2026-01$/],
  ["usage today", '"usage" takes no argument "today"', "for a period, type: tollkeeper usage --since today"],
  ["usage 2026-11", '"usage" takes no argument "2026-11"', /--since 2026-11$/],
  [
    "usage codex",
    '"usage" takes no argument "codex"',
    /^for one tool, type: tollkeeper usage --tool codex\n/,
  ],
  ["tail codex", '"tail" takes no argument "codex"', /^for one tool, type: tollkeeper tail --tool codex\n/],
  [
    "service stat",
    'there is no "service stat"; did you mean "service status"?',
    /tollkeeper service status\n/,
  ],
  [
    "key xyzzy",
    'there is no "key xyzzy"; the subcommands are: set, list, test, remove',
    /tollkeeper key set/,
  ],
  ["usage --bi tool", 'there is no option --bi; did you mean "--by"?', /tollkeeper usage --help$/],
  ["usage --xyzzy", "there is no option --xyzzy", /tollkeeper usage --help$/],
  [
    "usage extra",
    '"usage" takes no argument "extra"',
    /^for one tool, type: tollkeeper usage --tool extra\n {6}for more, type: tollkeeper usage --help$/,
  ],
  ["usage --by", "--by needs a value", /tollkeeper usage --help$/],
  ["usage --by --json", "--by needs a value", /tollkeeper usage --help$/],
  ["usage --since=", "--since needs a value", /tollkeeper usage --help$/],
  [
    "usage --since 1d --since 2d",
    "--since may be given only once",
    /^for example: tollkeeper usage --by model --since today\n.*tollkeeper usage --help$/,
  ],
  [
    "usage --by tool,day,key",
    '"--by" takes one or two different groupings, as in: --by tool,day',
    /tollkeeper usage --help$/,
  ],
  [
    "usage --by colour",
    '--by cannot be "colour"; choose one of: tool, model, hour, day, week, month, session, agent, agent_parent, agent_kind, turn, project, branch, key, account, upstream, route, outcome, miss',
    /--help$/,
  ],
  ["usage --json --csv", "--json and --csv cannot be used together", /--help$/],
  [
    "serve --port 9000",
    "there is no option --port",
    "to set the port, type: tollkeeper config set listen.port 9000",
  ],
  [
    "serve --port=9000",
    "there is no option --port",
    "to set the port, type: tollkeeper config set listen.port 9000",
  ],
  ["serve --port", "there is no option --port", /listen\.port 8700$/],
  ["budget set codex -per day", 'there is no option -per; did you mean "--per"?', /budget set --help$/],
  ["usage -since today", 'there is no option -since; did you mean "--since"?', /usage --help$/],
  ["budget -help", 'there is no option -help; did you mean "--help"?', /budget --help$/],
  [
    "connect -list",
    'there is no option -list; did you mean "--list"?',
    /^for example: tollkeeper connect --list\n/,
  ],
  ["usage \u2014since today", '"\u2014" is a dash, not two hyphens', "type two hyphens: --since"],
  ["run \u2014 echo hi", '"\u2014" is a dash, not two hyphens', "type two hyphens: --"],
  ["unpause zed", 'there is no command "unpause"', "to end a pause, type: tollkeeper resume zed"],
  ["unpause", 'there is no command "unpause"', "to end a pause, type: tollkeeper resume codex"],
  [
    "claude",
    'there is no command "claude"',
    "to connect Claude Code, type: tollkeeper connect claude-code\n      to run it once, type: tollkeeper run -- claude",
  ],
  ["usage help", '"usage" takes no argument "help"', "to see what it takes, type: tollkeeper usage --help"],
  [
    "group add team codex",
    'there is no "group add"',
    /^to put a tool into a group, type: tollkeeper group use TOOL GROUP\n/,
  ],
  ["budget add codex", 'there is no "budget add"; did you mean "budget set"?', /budget --help$/],
  ["key rm", 'there is no "key rm"; did you mean "key remove"?', /key --help$/],
  ["token delete x", 'there is no "token delete"; did you mean "token revoke"?', /token --help$/],
  ["statusline codex", '"statusline" takes no argument "codex"', /^for example: tollkeeper statusline\n/],
  ["top extra", '"top" takes no argument "extra"', /tollkeeper top --help$/],
  ["connect codex --model", "--model needs a value", /tollkeeper connect --help$/],
  ["env", '"env" needs the name of a tool', /^for example: eval "\$\(tollkeeper env my-script\)"\n/],
  ["token add", '"token add" needs the name of a tool', /^for example: tollkeeper token add my-script\n/],
  [
    "completion csh",
    '"completion" cannot take "csh"; choose one of: bash, zsh, fish',
    /tollkeeper completion --help$/,
  ],
] as const) {
  test(`tollkeeper ${line} is wrong usage: ${error}`, async () => {
    const { code, stdout, stderr } = await runInTurn(...line.split(" "));
    assert.deepEqual([code, stdout], [2, ""]);
    const [first, ...rest] = stderr.trimEnd().split("\n");
    if (typeof error === "string") assert.equal(first, `error: ${error}`);
    else assert.match(first?.replace(/^error: /, "") ?? "", error);
    const advice = rest.join("\n").replace(/^hint: /, "");
    if (typeof hint === "string") assert.equal(advice, hint);
    else assert.match(advice, hint);
  });
}

test("an argument that looks like a key is not repeated, whatever the command; its owner is told to revoke it", async (t) => {
  const key = "sk-ant-api03-abcdefghij0123456789";
  for (const line of [
    `usage ${key}`,
    `key set ${key}`,
    `key set default ${key}`,
    `token add my-script ${key}`,
  ]) {
    const { code, stdout, stderr } = await run(t, line);
    assert.equal(code, 2, line);
    assert.match(
      stderr,
      /^error: an argument looks like an API key.*\nhint: the key is now in your shell's history: revoke it/,
    );
    assert.ok(!`${stdout}${stderr}`.includes(key));
  }
});

test("a program that is not installed names the command that runs it in its messages", async (t) => {
  const script = join(import.meta.dirname, "../../../dist/main.js");
  const options = {
    env: environment(t),
    cwd: join(import.meta.dirname, "../../.."),
    encoding: "utf8",
  } as const;
  const help = execFileSync("sh", ["-c", `${process.execPath} ${script} usag 2>&1 || true`], options);
  assert.match(help, /type: node dist\/main\.js --help$/m);
  const npx = execFileSync(
    "sh",
    ["-c", `npm_command=exec ${process.execPath} ${script} usag 2>&1 || true`],
    options,
  );
  assert.match(npx, /type: npx tollkeeper --help$/m);
  // At the default port may be a daemon of the person's own.
  const config = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(config, JSON.stringify({ listen: { port: await freePort() } }));
  const doctor = execFileSync(
    "sh",
    ["-c", `${process.execPath} ${script} doctor --config ${config} || true`],
    options,
  );
  // In a container it names what is missing there.
  assert.match(doctor, /-> .*\bnode dist\/main\.js (?:serve|service|connect)/);
  assert.doesNotMatch(doctor, /\btollkeeper serve/);
});

test("the command that runs a program below a directory with an odd name can be pasted into a shell", async (t) => {
  const env = environment(t);
  const clone = join(env["HOME"] ?? "", "my $HOME's tools");
  symlinkSync(join(import.meta.dirname, "../../.."), clone);
  const options = { env, cwd: dirname(clone), encoding: "utf8" } as const;
  const shown = spawnSync(process.execPath, [join(clone, "dist/main.js"), "usag"], options);
  const command = /type: (node .* --help)$/m.exec(shown.stderr)?.[1] ?? "";
  assert.equal(command, "node 'my $HOME'\\''s tools/dist/main.js' --help");
  assert.match(execFileSync("sh", ["-c", command], options), /Set up/);
});

function openCompletion(t: TestContext) {
  const env = environment(t);
  const config = join(env["HOME"] ?? "", ".config/tollkeeper/config.jsonc");
  execFileSync("mkdir", ["-p", join(config, "..")]);
  const upstream = { baseUrl: "https://api.example.com/v1", key: "work" };
  const text = JSON.stringify({
    upstreams: { default: upstream, other: upstream },
    groups: { small: {} },
    aliases: { cheap: "gpt-5-mini" },
  });
  writeFileSync(config, text, { mode: 0o600 });
  const complete = openCommandLine(env);
  return async (...typed: string[]) => (await complete("--complete", ...typed)).stdout.trimEnd().split("\n");
}

test("completes commands, subcommands, options, choices, tools, keys and upstreams", async (t) => {
  const words = openCompletion(t);
  assert.ok((await words("")).includes("usage"));
  assert.deepEqual(await words("us"), ["usage"]);
  assert.deepEqual(await words("key", ""), ["set", "list", "test", "remove"]);
  assert.deepEqual(await words("usage", "--si"), ["--since"]);
  assert.deepEqual(await words("usage", "--by", "mod"), ["model"]);
  assert.deepEqual(await words("connect", "claude"), ["claude-code"]);
  assert.deepEqual(await words("key", "test", ""), ["work"]);
  assert.deepEqual(await words("key", "set", "--upstream", ""), ["default", "other"]);
  assert.deepEqual(await words("pri"), ["prices"]);
  assert.deepEqual(await words("prices", "x", "--upstream", "o"), ["other"]);
  assert.deepEqual(await words("models", "--t"), ["--tool"]);
  assert.deepEqual(await words("ledger", "p"), ["prune"]);
  assert.deepEqual(await words("ledger", "import", "cl"), ["claude-code"]);
  assert.deepEqual(await words("ledger", "export", "--format", ""), ["ndjson", "csv"]);
  assert.deepEqual(await words("ledger", "export", "--until", "--ut"), ["--utc"]);
  assert.deepEqual(await words("group", ""), ["list", "set", "use", "leave", "remove"]);
  assert.deepEqual(await words("group", "use", "codex", ""), ["small"]);
  assert.deepEqual(await words("brake", "set", "--group", ""), ["small"]);
  assert.deepEqual(await words("brake", "remove", "cod"), ["codex"]);
  assert.deepEqual(await words("alias", "remove", ""), ["cheap"]);
  assert.deepEqual(await words("budget", "rem"), ["remove"]);
  assert.deepEqual(await words("config", "unset", "listen.po"), ["listen.port"]);
  assert.deepEqual(await words("run", "--", "us"), [""]);
});

test("completes the word last wherever it stands for an id", async (t) => {
  const words = openCompletion(t);
  for (const typed of [
    ["usage", "session", ""],
    ["explain", "l"],
    ["capture", "show", ""],
    ["capture", "diff", "3f2a", ""],
    ["capture", "export", ""],
    ["capture", "delete", ""],
    ["usage", "--session", ""],
    ["ledger", "export", "--session", ""],
    ["route", "--explain", ""],
    ["prices", "--record", ""],
  ])
    assert.deepEqual(await words(...typed), ["last"], typed.join(" "));
});

test("wrong usage is explained in the same words whatever the language of the machine", async (t) => {
  const env = { ...environment(t), LANG: "de_DE.UTF-8", LC_ALL: "de_DE.UTF-8" };
  const { code, stderr } = await runProgram(["usage", "--sinse", "7d"], { env });
  assert.equal(code, 2);
  assert.match(stderr, /there is no option --sinse; did you mean "--since"\?/);
});

test("help is ASCII, as the build's measure of its width supposes", async (t) => {
  const { stdout } = await run(t, "--help");
  const names = [...stdout.matchAll(/^ {2}tollkeeper (\w+)/gm)].map(([, name = ""]) => name);
  assert.ok(names.length > 20, stdout);
  for (const name of names) assert.match((await runInTurn(name, "--help")).stdout, /^[\n -~]+$/, name);
});
