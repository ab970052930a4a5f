import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { shellEditor } from "../../../src/connect/formats/shell.ts";
import {
  bypassesLoopback,
  bypassVariables,
  LOOPBACK_HOSTS,
} from "../../../src/tools/recipe/loopback-bypass.ts";
import { startDaemon, type Daemon } from "../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";

// A company's proxy in the environment must not get what tools send to tollkeeper.

/** A proxy that keeps what it is asked for. */
async function startProxy(t: TestContext) {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(req.url ?? "");
    res.end("{}");
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Sends a request as curl, and as Python's urllib where there is a Python. */
const CLIENTS = [
  `curl -sS "$OPENAI_BASE_URL/models" -o /dev/null -w '%{http_code}\n'`,
  ...(spawnSync("python3", ["-c", ""]).status === 0
    ? [
        `python3 -c "import os,urllib.request as u; print(u.urlopen(os.environ['OPENAI_BASE_URL']+'/models').status)"`,
      ]
    : []),
].join(" && ");

async function proxied(
  t: TestContext,
): Promise<{ daemon: Daemon; env: Record<string, string>; asked: string[] }> {
  const { asked, url } = await startProxy(t);
  const daemon = await startDaemon(t);
  return { daemon, asked, env: { ...daemon.env, SHELL: "/bin/bash", HTTP_PROXY: url, http_proxy: url } };
}

const OUTPUT = /^(?:200\n)+$/;

test("run has the command reach tollkeeper without the environment's proxy, and keeps its exceptions", async (t) => {
  const { env, asked } = await proxied(t);
  const excepted = { ...env, NO_PROXY: "corp.example" };
  const script = `${CLIENTS}; echo "$NO_PROXY $no_proxy" >&2`;
  const { stdout, stderr } = await runProgram(["run", "--tool", "job", "--", "sh", "-c", script], {
    env: excepted,
  });
  assert.match(stdout, OUTPUT);
  assert.equal(stderr.trim(), `corp.example,${LOOPBACK_HOSTS} corp.example,${LOOPBACK_HOSTS}`);
  assert.deepEqual(asked, []);
});

test("the lines of env do the same in a shell", async (t) => {
  const { env, asked } = await proxied(t);
  const script = `eval "$('${process.execPath}' '${PROGRAM}' env job)"; ${CLIENTS}`;
  const { stdout } = spawnSyncText("sh", script, env);
  assert.match(stdout, OUTPUT);
  assert.deepEqual(asked, []);
});

test("connect sdk does the same in each new shell, however often the start-up file is read", async (t) => {
  const { daemon, env, asked } = await proxied(t);
  const connected = await runProgram(["connect", "sdk", "--yes", "--config", daemon.configFile], { env });
  assert.equal(connected.code, 0, connected.stderr);
  const file = join(daemon.home, ".bashrc");
  const script = `. '${file}'; . '${file}'; ${CLIENTS}; echo "$NO_PROXY" >&2`;
  const { stdout, stderr } = spawnSyncText("sh", script, { ...env, NO_PROXY: "a,b" });
  assert.match(stdout, OUTPUT);
  assert.equal(stderr.trim(), `a,b,${LOOPBACK_HOSTS}`);
  assert.deepEqual(asked, []);
  assert.equal(
    (await runProgram(["disconnect", "sdk", "--yes", "--config", daemon.configFile], { env })).code,
    0,
  );
  assert.equal(existsSync(file), false);
});

function spawnSyncText(shell: string, script: string, env: Record<string, string>) {
  return spawnSync(shell, ["-c", script], { env, encoding: "utf8" });
}

/** What a block makes of the two variables. */
const LISTS: [env: Record<string, string>, upper: string, lower: string][] = [
  [{}, LOOPBACK_HOSTS, LOOPBACK_HOSTS],
  [{ NO_PROXY: "a,b" }, `a,b,${LOOPBACK_HOSTS}`, `a,b,${LOOPBACK_HOSTS}`],
  [{ no_proxy: "c" }, `c,${LOOPBACK_HOSTS}`, `c,${LOOPBACK_HOSTS}`],
  [{ NO_PROXY: "a", no_proxy: "c" }, `a,${LOOPBACK_HOSTS}`, `c,${LOOPBACK_HOSTS}`],
  [{ NO_PROXY: LOOPBACK_HOSTS }, LOOPBACK_HOSTS, LOOPBACK_HOSTS],
];

for (const shell of ["sh", "bash", "zsh", "fish"]) {
  const isMissing = spawnSync(shell, ["-c", "exit"]).status !== 0;
  test(
    `a block in a start-up file of ${shell} keeps the hosts that are excepted`,
    { skip: isMissing && `no ${shell}` },
    (t) => {
      const editor = shellEditor(shell === "fish" ? "fish" : "sh", "sdk");
      let text = "";
      for (const name of ["NO_PROXY", "no_proxy"]) {
        const edit = editor.add(text, [], name, LOOPBACK_HOSTS);
        text = text.slice(0, edit.offset) + edit.text + text.slice(edit.offset + edit.length);
      }
      assert.deepEqual(editor.read(text), { NO_PROXY: LOOPBACK_HOSTS, no_proxy: LOOPBACK_HOSTS, "": [] });
      for (const [env, upper, lower] of LISTS) {
        const script = `${text}${text}echo "$NO_PROXY $no_proxy"`;
        const { stdout } = spawnSyncText(shell, script, {
          PATH: process.env["PATH"] ?? "",
          HOME: "/nonexistent",
          ...env,
        });
        assert.equal(stdout, `${upper} ${lower}\n`, `${t.name} ${JSON.stringify(env)}`);
        // `run` and `env` know the environment, and come to the same.
        assert.deepEqual(bypassVariables(env), { NO_PROXY: upper, no_proxy: lower });
      }
    },
  );
}

test("a list that excepts everything stays as it is, and both spellings must except this machine", () => {
  assert.deepEqual(bypassVariables({ NO_PROXY: "*" }), { NO_PROXY: "*", no_proxy: "*" });
  assert.equal(bypassesLoopback({ NO_PROXY: "*" }), true);
  assert.equal(bypassesLoopback({ NO_PROXY: "corp, 127.0.0.1" }), true);
  assert.equal(bypassesLoopback({ NO_PROXY: "127.0.0.1", no_proxy: "corp" }), false);
  assert.equal(bypassesLoopback({ NO_PROXY: "" }), false);
});

test("an edited line of such a block counts as changed", () => {
  const text = `# >>> tollkeeper sdk >>>\nexport NO_PROXY=mine\n# <<< tollkeeper sdk <<<\n`;
  assert.deepEqual(shellEditor("sh", "sdk").read(text), { NO_PROXY: "mine", "": [] });
});

const DOCTOR = ["doctor", "--json"];

interface Report {
  checks: { id: string; result: string; message: string; fix: string | null }[];
}

/** Returns what doctor says of proxies. */
async function proxyFindings(daemon: Daemon, env: Record<string, string>) {
  const { stdout } = await runProgram([...DOCTOR, "--config", daemon.configFile], {
    env: { ...daemon.env, ...env },
  });
  const all = Object.values(JSON.parse(stdout) as Record<string, unknown>).find(
    Array.isArray,
  ) as Report["checks"];
  return all.filter((one) => JSON.stringify(one).includes("proxies"));
}

test("doctor finds a proxy in the environment and in files of shells and tools, and prints what fixes it", async (t) => {
  const daemon = await startDaemon(t);
  assert.match(JSON.stringify(await proxyFindings(daemon, {})), /no proxy between tools and tollkeeper/);
  const byEnvironment = JSON.stringify(
    await proxyFindings(daemon, { HTTP_PROXY: "http://p:1", NO_PROXY: "corp" }),
  );
  assert.match(byEnvironment, /the environment \(HTTP_PROXY\) sets a proxy/);
  assert.ok(
    byEnvironment.includes(
      `export NO_PROXY='corp,${LOOPBACK_HOSTS}'; export no_proxy='corp,${LOOPBACK_HOSTS}'`,
    ),
  );
  const file = join(daemon.home, ".bashrc");
  writeFileSync(file, "# a comment\nexport http_proxy=http://p:1\n");
  const [found, ...others] = await proxyFindings(daemon, {});
  assert.deepEqual(others, []);
  const fix = String(Object.entries(found ?? {}).find(([name]) => name === "fix")?.[1]);
  assert.match(JSON.stringify(found), /\.bashrc:2 \(http_proxy\) sets a proxy/);
  assert.equal(spawnSyncText("sh", fix, daemon.env).status, 0);
  assert.match(JSON.stringify(await proxyFindings(daemon, {})), /no proxy between/);
});

test("doctor finds a proxy in Claude Code's and VS Code's own settings", async (t) => {
  const daemon = await startDaemon(t);
  mkdirSync(join(daemon.home, ".claude"));
  const claude = join(daemon.home, ".claude", "settings.json");
  writeFileSync(claude, '{\n "env": {\n  "HTTPS_PROXY": "http://p:1"\n }\n}\n');
  const code = join(daemon.home, "config", "Code", "User");
  mkdirSync(code, { recursive: true });
  writeFileSync(join(code, "settings.json"), '{\n "http.proxy": "http://p:1"\n}\n');
  const text = JSON.stringify(await proxyFindings(daemon, {}));
  assert.match(text, /settings\.json:3 \(HTTPS_PROXY\) sets a proxy/);
  assert.match(text, /settings\.json:2 \(http\.proxy\) sets a proxy/);
  assert.match(text, /http\.noProxy/);
});
