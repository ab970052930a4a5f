// Who pays for a tool that is signed in: nothing changes sides without being asked.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { hasSavedLogin } from "../../../src/cli/connect/saved-login.ts";
import { PLAN_TOOLS } from "../../../src/core/plans/names.ts";
import { CONNECTABLE_TOOLS } from "../../../src/tools/all.ts";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { noTerminal, runOnTerminal } from "../../helpers/process/terminal.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { writeToolScript } from "../../helpers/tools/write-tool-script.ts";
import { findTool, HOST } from "../../tools/tool-support.ts";

const PORT = 4711;
const SETTINGS = '{\n  // mine\n  "model": "opus",\n}\n';
const CODEX_SETTINGS = '# mine\npersonality = "terse"\n';
const CONFIG = `{\n  // mine\n  "listen": { "port": ${PORT} }\n}\n`;
const WITH_KEY = {
  listen: { port: PORT },
  upstreams: { anthropic: { baseUrl: "https://api.anthropic.com/v1" } },
};
const LOGIN = "sk-ant-oat01-sentinel-saved-login-4711-do-not-open";

const CLAUDE_LOGIN = ".claude/.credentials.json";
const CODEX_LOGIN = ".codex/auth.json";

/** A home with settings of both tools, in which these files hold a login. They cannot be read. */
function prepare(t: TestContext, logins: readonly string[], config: string | object = CONFIG) {
  const machine = prepareHome(t, { config });
  const files = {
    claude: join(machine.home, ".claude", "settings.json"),
    codex: join(machine.home, ".codex", "config.toml"),
    config: machine.configFile,
  };
  put(files.claude, SETTINGS);
  put(files.codex, CODEX_SETTINGS);
  for (const login of logins) {
    put(join(machine.home, login), LOGIN);
    chmodSync(join(machine.home, login), 0);
  }
  const text = (name: keyof typeof files) => readFileSync(files[name], "utf8");
  const texts = () => [text("claude"), text("codex"), text("config")];
  return { ...machine, text, texts };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const UNTOUCHED = [SETTINGS, CODEX_SETTINGS, CONFIG];

for (const [tool, title, login] of [
  ["claude-code", "Claude Code", CLAUDE_LOGIN],
  ["codex", "Codex", CODEX_LOGIN],
] as const) {
  test(`connect ${tool} with a saved login and no answer changes nothing, and names both commands`, async (t) => {
    const { command, texts } = prepare(t, [login]);
    for (const [options, last] of [
      [["--yes"], "--yes"],
      [[], "--yes"],
      [["--dry-run"], "--dry-run"],
    ] as const) {
      const { code, stdout, stderr } = await command("connect", tool, ...options);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.equal(
        stderr,
        `error: ${title} has a saved login, and connect cannot know who is to pay: your key or its plan; nothing was changed\n` +
          `hint: to have the key pay, type: tollkeeper connect ${tool} --account key ${last}\n` +
          `      to have the plan pay, type: tollkeeper connect ${tool} --account plan ${last}\n`,
      );
      assert.deepEqual(texts(), UNTOUCHED);
    }
  });

  test(`connect ${tool} without a saved login asks for no account, and says that the key pays, also after a login`, async (t) => {
    const { command } = prepare(t, [], WITH_KEY);
    const { code, stdout } = await command("connect", tool, "--yes");
    assert.equal(code, 0);
    assert.match(
      stdout,
      new RegExp(`^Your API key pays\\. If you sign in to ${title} later, your key still pays\\.$`, "m"),
    );
    assert.match(stdout, new RegExp(`^\\+.*"http://127\\.0\\.0\\.1:${PORT}/t/${tool}(?:/v1)?"`, "m"));
  });
}

test("connect --account key connects as without a login, and says that the key pays", async (t) => {
  const signedIn = prepare(t, [CLAUDE_LOGIN], WITH_KEY);
  const without = prepare(t, [], WITH_KEY);
  const { code, stdout } = await signedIn.command("connect", "claude-code", "--account", "key", "--yes");
  assert.equal(code, 0);
  assert.match(stdout, /^Your API key pays: Claude Code does not use its saved login\.$/m);
  await without.command("connect", "claude-code", "--yes");
  assert.deepEqual(signedIn.texts(), without.texts());
});

test("connect --account plan --dry-run says who would pay, shows both files, and changes nothing", async (t) => {
  const { command, texts } = prepare(t, [CLAUDE_LOGIN]);
  const { code, stdout, stderr } = await command("connect", "claude-code", "--account", "plan", "--dry-run");
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^\+ .*"ANTHROPIC_BASE_URL": "http:\/\/127\.0\.0\.1:4711\/t\/claude-code\/plan"/m);
  assert.match(
    stdout,
    /^ {2}plans\[claude-code\]: lets tollkeeper forward the login of Claude Code, to the service that it is for$/m,
  );
  assert.match(
    stdout,
    /^The plan that Claude Code is signed in with would pay, and no key would be used\.\nDry run: nothing was changed\.\n$/m,
  );
  assert.deepEqual(texts(), UNTOUCHED);
});

test("connect --account plan leaves the login of each tool alone and lists it in plans, and disconnect restores every file byte for byte", async (t) => {
  const { command, text, texts } = prepare(t, [CLAUDE_LOGIN, CODEX_LOGIN]);
  const claude = await command("connect", "claude-code", "--account", "plan", "--yes");
  assert.equal(claude.code, 0, claude.stderr);
  assert.doesNotMatch(claude.stderr, /sandbox/, "a plan needs no API that is set up");
  const { env } = JSON.parse(
    text("claude")
      .replace("// mine", "")
      .replace(/,(?=\s*\})/g, ""),
  ) as {
    env: Record<string, string>;
  };
  assert.deepEqual(env, {
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${PORT}/t/claude-code/plan`,
    ENABLE_TOOL_SEARCH: "true",
    CLAUDE_CODE_GATEWAY_HINT_HEADERS: "1",
  });
  const codex = await command("connect", "codex", "--account", "plan", "--yes");
  assert.equal(codex.code, 0, codex.stderr);
  assert.equal(
    text("codex").slice(CODEX_SETTINGS.length),
    'model_provider = "tollkeeper"\n\n[model_providers.tollkeeper]\nname = "OpenAI"\n' +
      `base_url = "http://127.0.0.1:${PORT}/t/codex/plan/v1"\n` +
      'wire_api = "responses"\nsupports_websockets = true\nrequires_openai_auth = true\n',
  );
  const { code, stdout } = await command("config", "get", "plans");
  assert.deepEqual([code, stdout.replaceAll(/\s/g, "")], [0, '["claude-code","codex"]']);
  // Once more: who pays stays, and nothing is written.
  const before = texts();
  const again = await command("connect", "claude-code", "--yes");
  assert.match(again.stdout, /^Claude Code is already connected: .*\/plan\nThe plan that .* pays/);
  assert.deepEqual(texts(), before);

  for (const order of [
    ["codex", "claude-code"],
    ["claude-code", "codex"],
  ]) {
    for (const tool of order) assert.equal((await command("disconnect", tool, "--yes")).code, 0);
    assert.deepEqual(texts(), UNTOUCHED, order.join());
    for (const tool of ["claude-code", "codex"])
      assert.equal((await command("connect", tool, "--account", "plan", "--yes")).code, 0);
  }
});

test("connect creates the configuration that a plan needs, and disconnect removes it", async (t) => {
  const { env, configFile } = prepare(t, [CLAUDE_LOGIN]);
  rmSync(configFile);
  const command = (...words: string[]) => runProgram(words, { env });
  const { code, stdout, stderr } = await command("connect", "claude-code", "--account", "plan", "--yes");
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^~\/.*config\.jsonc: will be created\n@@ .*\n\+\{\n\+ {2}"plans": \[\n/m);
  assert.equal(statSync(configFile).mode & 0o777, 0o600);
  assert.equal((await command("disconnect", "claude-code", "--yes")).code, 0);
  assert.ok(!existsSync(configFile));
});

test("connect from the plan to the key takes the tool off the plans again", async (t) => {
  const { command, texts, text } = prepare(t, [CLAUDE_LOGIN]);
  assert.equal((await command("connect", "claude-code", "--account", "plan", "--yes")).code, 0);
  assert.equal((await command("connect", "claude-code", "--account", "key", "--yes")).code, 0);
  assert.equal(text("config"), CONFIG);
  assert.match(text("claude"), /"ANTHROPIC_AUTH_TOKEN": "tk-claude-code"/);
  assert.equal((await command("disconnect", "claude-code", "--yes")).code, 0);
  assert.deepEqual(texts(), UNTOUCHED);
});

test("the address of a key that was written by hand beside a saved login is no choice of the key", async (t) => {
  const { command, text, home } = prepare(t, [CLAUDE_LOGIN]);
  const byHand = `{ "env": { "ANTHROPIC_BASE_URL": "http://127.0.0.1:${PORT}/t/claude-code" } }\n`;
  put(join(home, ".claude", "settings.json"), byHand);
  const { code, stderr } = await command("connect", "claude-code", "--yes");
  assert.equal(code, 1);
  assert.match(stderr, /has a saved login/);
  assert.equal(text("claude"), byHand);
});

test("connect --account plan is refused for a tool whose plan may not pass", async (t) => {
  const { command } = prepare(t, []);
  for (const more of [["--yes"], ["--print"]]) {
    const { code, stderr } = await command("connect", "aider", "--account", "plan", ...more);
    assert.equal(code, 1);
    assert.equal(
      stderr,
      "error: aider cannot keep the login of a plan: only claude-code and codex can; nothing was changed\n" +
        "hint: to have the key pay, type: tollkeeper connect aider --account key\n",
    );
  }
  const names = CONNECTABLE_TOOLS.flatMap(({ name, savedLogin }) => (savedLogin === undefined ? [] : [name]));
  assert.deepEqual(names.toSorted(), [...PLAN_TOOLS].toSorted());
});

test("connect --account plan changes nothing when the configuration is not valid with it", async (t) => {
  const { command, texts } = prepare(t, [CLAUDE_LOGIN], '{ "plans": ["nobody"] }\n');
  const before = texts();
  const { code } = await command("connect", "claude-code", "--account", "plan", "--yes");
  assert.equal(code, 1);
  assert.deepEqual(texts(), before);
});

test("where a token is required, a tool with a plan brings it beside its login", async (t) => {
  const { command, text } = prepare(t, [CLAUDE_LOGIN, CODEX_LOGIN], {
    listen: { port: PORT },
    access: "token",
  });
  for (const tool of ["claude-code", "codex"])
    assert.equal((await command("connect", tool, "--account", "plan", "--yes")).code, 0);
  assert.match(
    text("claude"),
    /"ANTHROPIC_CUSTOM_HEADERS": "x-tollkeeper-token: tollkeeper-claude-code-[\w-]+"/,
  );
  assert.match(
    text("codex"),
    /^(?:\[model_providers\.tollkeeper\.http_headers\]\n|http_headers\.)x-tollkeeper-token = "tollkeeper-codex-[\w-]+"$/m,
  );
  assert.doesNotMatch(text("codex"), /bearer/);
});

test(
  "connect asks on a terminal who pays, again until it is told, and takes no answer for none",
  { skip: noTerminal },
  async (t) => {
    const { env, configFile, text, texts } = prepare(t, [CLAUDE_LOGIN]);
    const ask = (...typed: [string, string][]) => {
      const argv = [process.execPath, PROGRAM, "connect", "claude", "--config", configFile];
      return runOnTerminal(argv, { env }, typed);
    };
    const WHO = "Type key or plan: ";
    const nothing = await ask([WHO, "\u0004"]);
    assert.equal(nothing.code, 1, nothing.text);
    assert.match(nothing.text, /Claude Code has a saved login\. Which account pays/);
    assert.match(nothing.text, /^ {2}key {3}Your API key pays for each token/m);
    assert.match(nothing.text, /^ {2}plan {2}Claude Code keeps its login/m);
    assert.match(nothing.text, /nothing was changed\r\n$/);
    assert.deepEqual(texts(), UNTOUCHED);
    const answered = await ask([WHO, "both\n"], [WHO, "plan\n"], ["Connect Claude Code? [y/N] ", "y\n"]);
    assert.equal(answered.code, 0, answered.text);
    assert.match(text("claude"), /\/t\/claude-code\/plan"/);
  },
);

test("a login in CLAUDE_CODE_OAUTH_TOKEN is one, and its value is not shown", async (t) => {
  const { env, configFile, texts } = prepare(t, []);
  for (const [value, expected] of [
    [LOGIN, 1],
    ["", 0],
  ] as const) {
    const result = await runProgram(
      ["connect", "claude-code", "--dry-run", "--yes", "--config", configFile],
      {
        env: { ...env, CLAUDE_CODE_OAUTH_TOKEN: value },
      },
    );
    assert.equal(result.code, expected, result.stderr);
    assert.doesNotMatch(result.stdout + result.stderr, /sentinel/);
  }
  assert.deepEqual(texts(), UNTOUCHED);
});

test("on a Mac, where the keychain may hold the login, Claude Code itself is asked", async (t) => {
  const home = scratchDirectory(t);
  const tool = findTool("claude-code");
  const say = (answer: string) =>
    writeToolScript(home, "claude", `[ "$1 $2" = "auth status" ] && echo '${answer}'`);
  const bin = say('{ "loggedIn": true, "storedClaudeAiLogin": true }');
  const host = {
    ...HOST,
    home,
    platform: "darwin",
    env: { PATH: `${bin}:/usr/bin:/bin` },
    exists: existsSync,
  } as const;
  assert.equal(await hasSavedLogin(tool, host), true);
  assert.equal(await hasSavedLogin(tool, { ...host, platform: "linux" }), false);
  say('{ "loggedIn": true, "authMethod": "api_key" }');
  assert.equal(await hasSavedLogin(tool, host), false);
  assert.equal(await hasSavedLogin(tool, { ...host, env: { PATH: home } }), false);
});

test("connect --list and doctor say that a plan pays, and warn of a key in the shell that takes the place of its login", async (t) => {
  const { env, configFile } = prepare(t, [CLAUDE_LOGIN]);
  const run = (more: Record<string, string>, ...words: string[]) =>
    runProgram([...words, "--config", configFile], { env: { ...env, ...more } });
  assert.equal((await run({}, "connect", "claude-code", "--account", "plan", "--yes")).code, 0);
  const list = await run({}, "connect", "--list");
  assert.match(list.stdout, /^Claude Code +claude-code +yes +yes \(its plan pays\) {2,}/m);
  const doctor = await run({}, "doctor");
  assert.match(doctor.stdout, /connected: Claude Code \(its plan pays\); nothing sends requests elsewhere/);
  const json = await run({}, "connect", "--list", "--json");
  const listed = JSON.parse(json.stdout) as { tool: string; connections: { account: string }[] }[];
  assert.equal(listed.find(({ tool }) => tool === "claude-code")?.connections[0]?.account, "plan");

  const key = { ANTHROPIC_API_KEY: "sk-ant-api03-of-the-shell" };
  const warned = await run(key, "connect", "--list");
  assert.match(warned.stdout, /yes \(its plan pays\), but see below/);
  assert.match(
    warned.stdout,
    /^claude-code: the environment \(ANTHROPIC_API_KEY\) takes the place of the plan's login: .*\n {2}-> unset ANTHROPIC_API_KEY/m,
  );
  const checked = (await run(key, "doctor")).stdout.replaceAll(/\s+/g, " ");
  assert.match(
    checked,
    /Claude Code is connected, but the environment \(ANTHROPIC_API_KEY\) takes the place/,
  );
  for (const { stdout } of [warned, await run(key, "doctor")]) assert.doesNotMatch(stdout, /of-the-shell/);
});

test(
  "connect asks with what will happen, and says at the end who pays, with the way back",
  { skip: noTerminal },
  async (t) => {
    const { env, configFile, command } = prepare(t, [CLAUDE_LOGIN], WITH_KEY);
    const argv = [process.execPath, PROGRAM, "connect", "claude", "--config", configFile];
    const first = await runOnTerminal(argv, { env }, [
      ["Type key or plan: ", "key\n"],
      ["Connect Claude Code? [y/N] ", "y\n"],
    ]);
    assert.match(first.text, /settings\.json: will change\r\n/);
    assert.match(
      first.text,
      /^Your API key will pay: Claude Code will not use its saved login\.\r\nConnect Claude Code\? /m,
    );
    assert.match(first.text, /^Your API key pays: Claude Code does not use its saved login\.\r$/m);
    const list = await command("connect", "--list");
    assert.match(list.stdout, /^Claude Code +claude-code +yes +yes \(your key pays\) {2,}/m);
    const again = await command("connect", "claude");
    assert.match(
      again.stdout,
      /^Claude Code is already connected: .*\nYour API key pays: .*\nTo have its plan pay instead, type: tollkeeper connect claude-code --account plan\n$/,
    );
    const changed = await runOnTerminal([...argv, "--account", "plan"], { env }, [
      ["Change the connection of Claude Code? [y/N] ", "y\n"],
    ]);
    assert.match(changed.text, /^The plan that Claude Code is signed in with pays, and no key is used\.\r$/m);
  },
);

test("connect --account plan says of a tool without a login that it is not signed in", async (t) => {
  const { command } = prepare(t, []);
  const { stdout } = await command("connect", "codex", "--account", "plan", "--dry-run");
  assert.match(
    stdout,
    /^Codex is not signed in, so it would not work until you sign in\. After that the plan that you sign in with would pay, and no key would be used\.$/m,
  );
});

for (const [tool, title, login, variable] of [
  ["claude-code", "Claude Code", CLAUDE_LOGIN, "ANTHROPIC_API_KEY"],
  ["codex", "Codex", CODEX_LOGIN, "CODEX_API_KEY"],
] as const) {
  test(
    `connect ${tool} warns right above its question that ${variable} keeps the plan from paying`,
    { skip: noTerminal },
    async (t) => {
      const { env, configFile } = prepare(t, [login]);
      const argv = [process.execPath, PROGRAM, "connect", tool, "--account", "plan", "--config", configFile];
      const { code, text } = await runOnTerminal(argv, { env: { ...env, [variable]: "sk-of-the-shell" } }, [
        ["? [y/N] ", "y\n"],
      ]);
      assert.equal(code, 0, text);
      const warning = (works: string, then: string) =>
        `warning: ${variable} is set in this shell. While it is set, ${title} sends it instead of its login, and tollkeeper refuses such requests. ${title} ${works}.\r\n` +
        `  Type: unset ${variable}\r\n  If a start-up file of your shell sets it, remove it there, too.\r\n` +
        `  Once that is done, the plan that ${title} is signed in with ${then}.\r\n`;
      const before = warning(
        "will not work, and neither a key nor the plan will pay",
        "will pay, and no key will be used",
      );
      assert.ok(text.includes(`${before}Connect ${title}? [y/N] `), text);
      const after = warning("does not work, and neither a key nor the plan pays", "pays, and no key is used");
      assert.ok(text.includes(`tollkeeper disconnect ${tool}\r\n${after}`), text);
      assert.doesNotMatch(text, /^The plan that|of-the-shell/m);
    },
  );
}

test("disconnect says who pays from then on, as far as that is known", async (t) => {
  const { command, env, configFile, home } = prepare(t, [CLAUDE_LOGIN], WITH_KEY);
  await command("connect", "claude-code", "--account", "plan", "--yes");
  const project = join(home, "project");
  mkdirSync(project);
  const run = (more: object, ...words: string[]) =>
    runProgram([...words, "--config", configFile], { env: { ...env, ...more }, cwd: project });
  await run({}, "connect", "claude-code", "--account", "key", "--scope", "project", "--yes");
  const inProject = await run({}, "disconnect", "claude-code", "--scope", "project", "--dry-run");
  assert.match(
    inProject.stdout,
    /^In this project, Claude Code would follow your user settings again\. They connect it to tollkeeper, and its plan would pay\.\nDry run: nothing was changed\.\n$/m,
  );
  const overridden = await run({ ANTHROPIC_API_KEY: "sk-of-mine" }, "disconnect", "claude-code", "--dry-run");
  assert.match(
    overridden.stdout,
    /^Claude Code would use its own key or login again, .* Note that the environment \(ANTHROPIC_API_KEY\) would come before its login\.$/m,
  );
  const { stdout } = await run({}, "disconnect", "claude-code", "--yes");
  assert.match(
    stdout,
    /^claude-code is disconnected\nClaude Code uses its own login again, without tollkeeper: the plan that it is signed in with pays\.\nIt stays connected in ~\/project\.\n$/m,
  );
});
