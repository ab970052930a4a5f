import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildJsonSchema } from "../../../src/core/config/schema.ts";
import { runOnTerminal } from "../../helpers/process/terminal.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { makeCertificate, startTlsUpstream } from "../../helpers/upstream/certificate.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

interface Result {
  code: number;
  out: string;
  err: string;
}

/** Runs `tollkeeper config ...` with this home directory to its end. */
async function runConfig(home: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Result> {
  const childEnv = {
    PATH: process.env["PATH"],
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    ...env,
  };
  const { code, stdout, stderr } = await runProgram(["config", ...args], { cwd: root, env: childEnv });
  return { code: Number(code), out: stdout, err: stderr };
}

/** Writes an executable script that serves as the editor. */
function makeEditor(home: string, script: string): string {
  const path = join(home, "own-editor");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o700);
  return path;
}

test("config path prints the platform's default path, or the path given with --config", async (t) => {
  const home = scratchDirectory(t);
  const env = { XDG_CONFIG_HOME: join(home, "config") };
  const usual = await runConfig(home, ["path"], env);
  const path = join(home, "toll.jsonc");
  writeFileSync(path, "{}");
  const named = await runConfig(home, ["path", "--config", path]);
  assert.deepEqual(named, { code: 0, out: `${path}\n`, err: "" });
  if (process.platform !== "linux") return;
  assert.deepEqual(usual, { code: 0, out: `${home}/config/tollkeeper/config.jsonc\n`, err: "" });
});

test("config check says what the choice of an upstream depends on", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "c.jsonc");
  const upstreams = {
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none", models: ["qwen*", "llama*"] },
    anthropic: { baseUrl: "https://api.anthropic.com/v1", apis: ["messages"] },
  };
  writeFileSync(path, JSON.stringify({ upstreams, aliases: { small: "qwen3" } }));
  const { out } = await runConfig(home, ["check", "--config", path]);
  assert.match(out, /^upstream local: \S+, models qwen\* llama\*, no key$/m);
  assert.match(out, /^upstream anthropic: \S+, only messages, key "default" from keychain$/m);
  assert.match(out, /^alias small: requests qwen3$/m);
});

test("config check of a valid file describes the configuration", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "c.jsonc");
  const text = `{
    "upstreams": {
      "default": { "baseUrl": "https://api.example.com/v1/" },
      "gate": { "baseUrl": "http://127.0.0.1:9/v1", "keySource": { "command": ["pass", "show", "x"] } }
    },
    "tools": { "codex": { "key": "codex" }, "pi": { "upstreams": ["gate"] } },
    "ledger": { "directory": "~/usage" }
  }`;
  writeFileSync(path, text);
  const { code, out, err } = await runConfig(home, ["check", "--config", path]);
  assert.deepEqual([code, err], [0, ""]);
  assert.deepEqual(out.trimEnd().split("\n"), [
    `${path} is valid`,
    "listens on 127.0.0.1 and ::1, port 8655",
    'upstream default: https://api.example.com/v1, key "default" from keychain',
    'upstream gate: http://127.0.0.1:9/v1, key "default" from command pass show x',
    'tool codex: all upstreams, key "codex"',
    "tool pi: upstream gate, the upstream's key",
    `keeps usage records for 400 days in ${home}/usage`,
    `warning: ${path}:6: tools.codex.key: codex uses another key at upstream gate, whose keySource has only one: "default"; fix: set tools.codex.upstreams to the upstreams that have the key`,
  ]);
});

/** A configuration with groups. */
const withGroups = (access: string) => `{
  "access": "${access}",
  "tools": { "codex": { "group": "small" }, "pi": { "key": "pi", "group": "small" }, "*": { "group": "rest" } },
  "groups": {
    "small": { "models": ["gpt-5-mini", "qwen*"], "key": "small" },
    "rest": {},
    "spare": { "models": ["x"] }
  }
}`;

test("config check describes groups, and warns of one that no tool is in and of what they are worth in open access", async (t) => {
  const path = join(scratchDirectory(t), "c.jsonc");
  writeFileSync(path, withGroups("open"));
  const { code, out } = await runConfig(dirname(path), ["check", "--config", path]);
  assert.equal(code, 0);
  const lines = out.trimEnd().split("\n");
  assert.deepEqual(lines.slice(3, 8), [
    'tool codex: all upstreams, key "small", group small',
    'tool pi: all upstreams, key "pi", group small',
    'group small: only gpt-5-mini qwen*, key "small", for codex, pi',
    "group rest: all models, for every tool that names no group",
    "group spare: only x, for no tool",
  ]);
  assert.deepEqual(lines.slice(-2), [
    `warning: ${path}:7: groups.spare: no tool is in this group; fix: put a tool into it with: tollkeeper --config ${path} group use TOOL spare`,
    `warning: ${path}:4: groups: access is open, so any program can use the name of another tool, and groups are not enforced; fix: tollkeeper --config ${path} config set access token`,
  ]);
  writeFileSync(path, withGroups("token"));
  const bound = await runConfig(dirname(path), ["check", "--json", "--config", path]);
  const { warnings } = JSON.parse(bound.out) as { warnings: { path: string; line: number }[] };
  assert.deepEqual(
    warnings.map((warning) => [warning.path, warning.line]),
    [["groups.spare", 7]],
  );
});

test("config check without a file says that the sandbox serves", async (t) => {
  const home = scratchDirectory(t);
  const path = (await runConfig(home, ["path"])).out.trim();
  const { code, out } = await runConfig(home, ["check"]);
  assert.equal(code, 0);
  assert.match(out, new RegExp(`^${path} does not exist; the defaults apply\n`));
  assert.match(out, /\nno upstream is configured: the built-in sandbox responds\n/);
});

for (const [name, fix] of [
  ["config.json", "mv"],
  ["tollkeeper.jsonc", "mv"],
  ["config.yaml", "tollkeeper config edit"],
] as const)
  test(`a ${name} in the place of the configuration is named, with what to type, by each command that reads it`, async (t) => {
    const home = scratchDirectory(t);
    const path = (await runConfig(home, ["path"])).out.trim();
    const other = join(dirname(path), name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(other, "{}", { mode: 0o600 });
    const said = [
      `warning: ${other} is not read: the configuration is in ${path}, as JSON with comments`,
      `hint: ${fix === "mv" ? `mv ${other} ${path}` : fix}`,
      "",
    ].join("\n");
    for (const args of [["check"], ["path"]]) {
      const { code, err } = await runConfig(home, args);
      assert.deepEqual([code, err], [0, said], args.join(" "));
    }
    const env = { PATH: process.env["PATH"], HOME: home, XDG_CONFIG_HOME: join(home, "config") };
    const doctor = await runProgram(["doctor"], { cwd: root, env });
    assert.match(doctor.stdout, /^failure +configuration +\S+ is not read: /m);
    writeFileSync(path, "{}", { mode: 0o600 });
    assert.equal((await runConfig(home, ["check"])).err, "");
  });

test("config explain without a file says that the defaults apply, and calls nothing invalid", async (t) => {
  const { out, err } = await runConfig(scratchDirectory(t), ["explain"]);
  assert.deepEqual([out, err], ["no file sets anything; the defaults apply\n", ""]);
});

test(
  "a missing managed file is to be created as root",
  { skip: existsSync("/etc/tollkeeper") },
  async (t) => {
    const { code, err } = await runConfig(scratchDirectory(t), [
      "check",
      "--config",
      "/etc/tollkeeper/config.jsonc",
    ]);
    assert.equal(code, 1);
    assert.match(err, /create the file with: sudo -e \/etc\/tollkeeper\/config\.jsonc\n/);
  },
);

test("config check of an invalid file lists every problem with its line and exits with 1", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "c.jsonc");
  writeFileSync(path, '{\n  "listen": { "port": "x" },\n  "upstream": {}\n}\n');
  assert.deepEqual(await runConfig(home, ["check", "--config", path]), {
    code: 1,
    out: `${path}:2: listen.port: must be a whole number\n${path}:3: upstream: unknown key "upstream"; did you mean "upstreams"?\n`,
    err: "",
  });
});

test("config check --json prints the verdict and the problems as JSON", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "c.jsonc");
  writeFileSync(path, '{ "listen": 1 }');
  const bad = await runConfig(home, ["check", "--json", "--config", path]);
  assert.equal(bad.code, 1);
  const problems = [{ path: "listen", line: 1, message: "must be an object: { ... }" }];
  assert.deepEqual(JSON.parse(bad.out), { path, ok: false, problems });
  writeFileSync(path, '{ "listen": { "port": 1 } }');
  const good = await runConfig(home, ["check", "--json", "--config", path]);
  assert.equal(good.code, 0);
  const verdict = { path, ok: true, exists: true, managed: null, problems: [], warnings: [] };
  assert.deepEqual(JSON.parse(good.out), verdict);
});

test("config schema prints the JSON Schema", async (t) => {
  const { code, out } = await runConfig(scratchDirectory(t), ["schema"]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(out), buildJsonSchema());
});

test("config edit creates a private file from the template with its schema, opens the editor and checks the result", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "a b", "config.jsonc");
  const editor = makeEditor(home, 'cp "$2" "$1"');
  const { code, out, err } = await runConfig(home, ["edit", "--config", path], {
    VISUAL: `${editor} "${home}/seen"`,
    EDITOR: "false",
  });
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, new RegExp(`^${path} is valid\n`));
  assert.equal(readFileSync(join(home, "seen"), "utf8"), readFileSync(path, "utf8"));
  assert.match(readFileSync(path, "utf8"), /"\$schema": "\.\/config\.schema\.json"/);
  assert.deepEqual(readdirSync(dirname(path)), ["config.jsonc", "config.schema.json"]);
  assert.deepEqual([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777], [0o600, 0o700]);
});

test("config edit keeps an existing file and lists the problems it has after editing", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "config.jsonc");
  writeFileSync(path, '{ "tools": {} ');
  const editor = makeEditor(home, 'echo \', "oops": 1 }\' >> "$1"');
  const { code, out } = await runConfig(home, ["edit", "--config", path], { EDITOR: editor });
  assert.equal(code, 1);
  assert.match(out, /config\.jsonc:1: oops: unknown key "oops"/);
});

test("config edit without VISUAL and EDITOR opens the first common editor on PATH", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "new", "config.jsonc");
  const programs = join(home, "bin");
  mkdirSync(programs);
  writeFileSync(join(programs, "nano"), '#!/bin/sh\n/bin/cp "$1" "$HOME/seen"\n', { mode: 0o755 });
  symlinkSync("/bin/sh", join(programs, "sh"));
  const { code } = await runOnTerminal(
    ["env", `PATH=${programs}`, process.execPath, PROGRAM, "config", "edit", "--config", path],
    { env: { PATH: process.env["PATH"], HOME: home, VISUAL: "", EDITOR: "" } },
    [],
  );
  assert.equal(code, 0);
  assert.equal(readFileSync(join(home, "seen"), "utf8"), readFileSync(path, "utf8"));
});

test("config edit without any editor says what to set and creates no file", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "new", "config.jsonc");
  const { code, out, err } = await runConfig(home, ["edit", "--config", path], {
    VISUAL: "",
    EDITOR: "",
    PATH: home,
  });
  assert.deepEqual([code, out], [1, ""]);
  assert.equal(err, `error: no editor was found\nhint: set VISUAL or EDITOR, or open ${path} yourself\n`);
  assert.equal(existsSync(dirname(path)), false);
});

const COMMENTED = `{
  // Where requests go.
  "upstreams": {
    "default": { "baseUrl": "https://api.example.com/v1" }, // ours
  },
}
`;

test("config set changes one value in place, keeps comments and mode, and config get prints it", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "config.jsonc");
  writeFileSync(path, COMMENTED, { mode: 0o640 });
  const config = async (...args: string[]) => runConfig(home, [...args, "--config", path]);
  const set = await config("set", "upstreams.default.baseUrl", "https://other.example.com/v1");
  assert.deepEqual([set.code, set.err], [0, ""]);
  assert.equal(set.out.split("\n")[0], `upstreams.default.baseUrl is set in ${path}`);
  assert.match(set.out, /\n-.*api\.example\.com.*\n\+.*other\.example\.com/);
  assert.equal(readFileSync(path, "utf8"), COMMENTED.replace("api.example.com", "other.example.com"));
  assert.equal(statSync(path).mode & 0o777, 0o640);
  assert.equal((await config("get", "upstreams.default.baseUrl")).out, "https://other.example.com/v1\n");
  assert.equal((await config("set", "listen.port", "8700")).code, 0);
  assert.match(readFileSync(path, "utf8"), /"port": 8700/);
  assert.equal((await config("set", "access", "token")).code, 0);
  assert.match(readFileSync(path, "utf8"), /"access": "token"/);
  assert.match(readFileSync(path, "utf8"), /\/\/ Where requests go\.[^]*\/\/ ours/);
});

test("config set creates a missing file, and config get prints a default and says so", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "new", "config.jsonc");
  const config = async (...args: string[]) => runConfig(home, [...args, "--config", path]);
  assert.equal((await config("set", 'upstreams["my.gateway"].baseUrl', "https://a.example.com")).code, 1);
  assert.equal(existsSync(path), false);
  assert.equal((await config("set", "upstreams.default.baseUrl", "https://a.example.com/v1")).code, 0);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.match((await config("check")).out, /^upstream default: https:\/\/a\.example\.com\/v1,/m);
  assert.deepEqual(await config("get", "listen.port"), {
    code: 0,
    out: "8655\n",
    err: "note: the file does not set it; this is the default\n",
  });
});

test("config set writes nothing that would make the configuration invalid", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "config.jsonc");
  writeFileSync(path, COMMENTED);
  for (const [name, value, problem] of [
    ["listen.port", "99999", /listen\.port: must be/],
    ["listen.prot", "1", /^error: the configuration has no listen\.prot; did you mean "listen\.port"\?\n/],
    ["port", "8700", /^error: the configuration has no port; did you mean "listen\.port"\?\n/],
    ["baseUrl", "https://a.example.com/v1", /did you mean "upstreams\.default\.baseUrl"\?\n/],
    ["listen.host", "0.0.0.0", /: tollkeeper listens on 127\.0\.0\.1 and ::1, and on no other address\n/],
    [
      "upstreams.default.key",
      "sk-ant-api03-abcdefghij0123456789",
      /looks like an API key|a key never belongs/,
    ],
  ] as const) {
    const { code, err } = await runConfig(home, ["set", name, value, "--config", path]);
    assert.notEqual(code, 0);
    assert.match(err, problem);
    assert.equal(readFileSync(path, "utf8"), COMMENTED);
  }
  for (const name of ["listen..port", "listen.prot"]) {
    const { code, err } = await runConfig(home, ["get", name, "--config", path]);
    assert.equal(code, 2);
    assert.match(err, /^error: the configuration has no listen/);
  }
});

test("config set takes a value within quotes that were meant for the shell, and keeps them where a text fits", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "config.jsonc");
  writeFileSync(path, '{"upstreams": {"default": {"baseUrl": "https://api.openai.com/v1"}}}');
  for (const [name, typed, written] of [
    ["listen.port", '"8690"', 8690],
    ["upstreams.default.key", '"1"', "1"],
  ] as const) {
    assert.equal((await runConfig(home, ["set", name, typed, "--config", path])).code, 0, name);
    const [section = "", ...rest] = name.split(".");
    let value: unknown = (JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>)[section];
    for (const member of rest) value = (value as Record<string, unknown>)[member];
    assert.equal(value, written);
  }
});

test("a change of a file that was not valid before says so, with its lines, and leads to the editor", async (t) => {
  const home = scratchDirectory(t);
  const path = join(home, "config.jsonc");
  const text = COMMENTED.replace('"upstreams"', '"tools": { "codex": { "kye": "x" } },\n  "upstreams"');
  writeFileSync(path, text);
  for (const words of [
    ["config", "set", "listen.port", "8700"],
    ["budget", "set", "codex", "--usd", "20", "--per", "day"],
  ]) {
    const { code, stderr } = await runProgram([...words, "--config", path], { env: { HOME: home } });
    assert.deepEqual(
      [code, stderr],
      [
        1,
        `error: nothing was written: ${path} was not valid before:\n  ${path}:3: tools.codex.kye: unknown key "kye"; did you mean "key"?\nhint: correct it first, with: tollkeeper config edit --config ${path}\n`,
      ],
    );
  }
  assert.equal(readFileSync(path, "utf8"), text);
});

test("config set access token names the connected tools that have no token, and the command that gives them one", async (t) => {
  const home = scratchDirectory(t);
  mkdirSync(join(home, ".claude"));
  const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/claude-code" };
  writeFileSync(join(home, ".claude", "settings.json"), JSON.stringify({ env }));
  const closed = await runConfig(home, ["set", "access", "token"]);
  assert.equal(closed.code, 0);
  assert.match(
    closed.err,
    /^tollkeeper now refuses the requests of Claude Code, which has no local token\. To add one, type:\n {2}tollkeeper \S+ /m,
  );
  assert.equal((await runConfig(home, ["set", "access", "open"])).err, "");
});

test("config edit reports an editor that exits with an error", async (t) => {
  const home = scratchDirectory(t);
  const { code, err } = await runConfig(home, ["edit", "--config", join(home, "c.jsonc")], {
    EDITOR: "false",
  });
  assert.equal(code, 1);
  assert.match(err, /^error: the editor failed: false\nhint: /);
});

test("config without a subcommand is wrong usage", async (t) => {
  const { code, err } = await runConfig(scratchDirectory(t), []);
  assert.equal(code, 2);
  assert.match(
    err,
    /^error: a subcommand is missing: path, check, schema, edit, get, explain, set or unset\n/,
  );
});

test("config set listen.port names the connected tools that it cuts off, and the command that connects them again", async (t) => {
  const home = scratchDirectory(t);
  mkdirSync(join(home, ".claude"));
  const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/claude-code" };
  writeFileSync(join(home, ".claude", "settings.json"), JSON.stringify({ env }));
  const set = async (port: string) => runConfig(home, ["set", "listen.port", port]);
  const moved = await set("8700");
  assert.equal(moved.code, 0);
  assert.match(
    moved.err,
    /^Claude Code still uses another port\. To connect it again, type:\n {2}.*connect claude-code --yes\n$/,
  );
  assert.equal((await set("8655")).err, "");
});

test("config check asks a server on this machine whether it speaks what its URL says", async (t) => {
  const { baseUrl } = await startTlsUpstream(t, makeCertificate(t, "IP:127.0.0.1"));
  const { host } = new URL(baseUrl);
  const home = scratchDirectory(t);
  const path = join(home, "config.jsonc");
  const check = async (url: string) => {
    writeFileSync(path, JSON.stringify({ upstreams: { local: { baseUrl: url } } }), { mode: 0o600 });
    return runConfig(home, ["check", "--config", path]);
  };
  const { code, out } = await check(`http://${host}/v1`);
  assert.equal(code, 0);
  assert.ok(
    out.includes(
      `warning: upstream "local" (http://${host}): its server speaks TLS, not plain HTTP; did you mean https://${host}/v1? Type: `,
    ),
    out,
  );
  assert.doesNotMatch((await check(`https://${host}/v1`)).out, /warning/);
});
