// A random login of each plan takes every path through a real daemon at its most verbose, and is then searched for wherever it could have been
// left. So is the id of its account. The body of a successful response is left out, because it is passed on unchanged.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { withResolvers } from "../helpers/async/with-resolvers.ts";
import { rawClient } from "../helpers/client/raw-client.ts";
import { startDaemon, type Daemon, type DaemonOptions } from "../helpers/daemon/daemon.ts";
import { startTail } from "../helpers/daemon/tail.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { startConnectProxy, startRemoteUpstream } from "../helpers/upstream/connect-proxy.ts";
import { startUpstream, type Script } from "../helpers/upstream/scripted-upstream.ts";
import { ECHO_IN_SUCCESS, RESPONSES } from "./echoing-responses.ts";
import { assertNowhere, describeProcesses, readFilesBelow } from "./leak-search.ts";

/** A tool with a made-up login that nothing else has. */
interface SignedIn {
  tool: string;
  path: string;
  headers: Record<string, string>;
  /** What must be nowhere. */
  secrets: readonly string[];
}

const random = () => randomBytes(24).toString("hex");

function signIn(tool: "claude-code" | "codex"): SignedIn {
  if (tool === "claude-code") {
    const login = `sk-ant-oat01-${random()}`;
    const headers = { authorization: `Bearer ${login}` };
    return { tool, path: "/t/claude-code/plan/v1/messages?beta=true", headers, secrets: [login] };
  }
  const [token, account] = [`eyJ${random()}.eyJ${random()}.${random()}`, `account-sentinel-${random()}`];
  const headers = { authorization: `Bearer ${token}`, "chatgpt-account-id": account };
  return { tool, path: "/t/codex/plan/v1/responses", headers, secrets: [token, account] };
}

/** Starts a daemon at which both plans may pass, with a server in place of both services. */
async function start(t: TestContext, script: Script, options: DaemonOptions = {}) {
  const service = await startUpstream(t, script);
  const remote = await startRemoteUpstream(t, service, ["api.anthropic.com", "chatgpt.com"]);
  const proxy = await startConnectProxy(t, { to: remote.port });
  const outbound = { httpsProxy: proxy.url, caFile: remote.certificate.file };
  const config = { plans: ["claude-code", "codex"], outbound };
  return { service, daemon: await startDaemon(t, { config, ...options }) };
}

/** Sends a request and returns everything that comes back (latin1). */
async function exchange(
  t: TestContext,
  { port }: Daemon,
  line: string,
  headers: Record<string, string>,
): Promise<string> {
  const client = await rawClient(t, port);
  const lines = {
    Host: `127.0.0.1:${port}`,
    "Content-Type": "application/json",
    Connection: "close",
    ...headers,
  };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  client.write(`${line} HTTP/1.1\r\n${head.join("")}Content-Length: 13\r\n\r\n{"model":"m"}`);
  return client.closed;
}

const COMMANDS = [
  "status",
  "status --json",
  "top",
  "usage --by account,key",
  "usage --json",
  "limits",
  "limits --json",
  "doctor",
  "doctor --json",
  "connect --list",
  "explain last",
];

for (const tool of ["claude-code", "codex"] as const) {
  test(`the login of ${tool} is found only at its service, whatever the service and the tool do with it`, async (t) => {
    const { path, headers, secrets } = signIn(tool);
    const [login = ""] = secrets;
    let respond = RESPONSES["a message"];
    const { service, daemon } = await start(t, (_seen, res) => respond?.(res, login), {
      env: { DEBUG: "*" },
      args: ["--debug"],
    });
    const texts: Record<string, string> = {};
    const tails = [await startTail(t, daemon), await startTail(t, daemon, "--json")];
    for (const [what, script] of Object.entries(RESPONSES)) {
      respond = script;
      texts[`response to ${what}`] = await exchange(t, daemon, `POST ${path}`, headers);
    }
    const sent = service.seen.length;
    // What is refused, with the login: at the address of a key, beside a key, at another plan, and where it is not a login.
    const elsewhere = [
      ["POST /v1/messages", headers],
      [`POST ${path}`, { ...headers, "x-api-key": login }],
      [`POST /t/${tool === "codex" ? "claude-code/plan/v1/messages" : "codex/plan/v1/responses"}`, headers],
      [`POST ${path}`, { "x-api-key": login }],
      [`POST /t/${tool}/plan/${login}`, headers],
      ["GET /t/nobody/plan/v1/models", headers],
    ] as const;
    for (const [line, others] of elsewhere)
      texts[`refusal of ${line} ${Object.keys(others).join()}`] = await exchange(t, daemon, line, others);
    assert.equal(service.seen.length, sent);
    respond = ECHO_IN_SUCCESS;
    const names = { "User-Agent": `tool ${login}`, "session-id": login, "x-claude-code-session-id": login };
    await exchange(t, daemon, `POST ${path}`, { ...headers, ...names });
    for (const words of COMMANDS) {
      const { stdout, stderr } = await daemon.command(...words.split(" "));
      texts[words] = stdout + stderr;
    }
    Object.assign(texts, describeProcesses());
    assert.equal(await daemon.stop(), 0);
    for (const [index, tail] of tails.entries()) {
      assert.match(String((await tail.notes.next()).value), /^the daemon has stopped/);
      tail.stop();
      texts[`tail ${index}`] = await tail.output;
    }
    assert.deepEqual(
      new Set(service.seen.map(({ headers: seen }) => seen.authorization)),
      new Set([headers["authorization"]]),
    );
    assert.equal(sent, Object.keys(RESPONSES).length);
    assert.ok((await daemon.ledger()).length >= service.seen.length);
    Object.assign(texts, { stdout: daemon.stdout(), stderr: daemon.stderr() });
    Object.assign(texts, readFilesBelow(daemon.home, null));
    for (const secret of secrets) assertNowhere(secret, texts);
  });
}

/** How a daemon ends in the middle of a request. */
const CRASHES = {
  "an uncaught exception": "throw new Error('a bug')",
  "a rejection that nothing handles": "Promise.reject(new Error('a bug'))",
  "a fatal error": "for (const all = [];;) all.push(new Array(1e5).fill(all.length + 0.5))",
  "an abort": "process.abort()",
};

/** A launcher that enables core dumps. */
const DUMPING = ["/bin/sh", "-c", `ulimit -c unlimited; exec "$0" "$@"`];

for (const [what, bug] of Object.entries(CRASHES)) {
  test(`${what} while requests with both logins run leaves no trace of them in output, reports, core and files`, async (t) => {
    const tools = [signIn("claude-code"), signIn("codex")];
    const arrived = withResolvers<void>();
    let count = 0;
    const cwd = scratchDirectory(t);
    writeFileSync(join(cwd, "bug.mjs"), `process.on("SIGUSR2", () => { ${bug} });`);
    const options = [
      `--import=${join(cwd, "bug.mjs")} --max-old-space-size=120 --report-directory=${cwd}`,
      "--report-on-fatalerror --report-uncaught-exception",
    ];
    const { daemon } = await start(
      t,
      () => {
        count += 1;
        if (count === tools.length) arrived.resolve();
      },
      {
        cwd,
        args: ["--debug"],
        env: { DEBUG: "*", NODE_OPTIONS: options.join(" "), PATH: cwd },
        ...(process.platform === "linux" && { launcher: DUMPING }),
      },
    );
    const asked = tools.map(({ path, headers }) => {
      const sent = request(daemon.url + path, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
      });
      sent.end('{"model":"m"}');
      return once(sent, "error");
    });
    await arrived.promise;
    process.kill(daemon.pid, "SIGUSR2");
    assert.notEqual(await daemon.ended, 0);
    await Promise.all(asked);
    assert.deepEqual(
      readdirSync(cwd).filter((name) => name.startsWith("report")),
      [],
    );
    const texts = {
      stdout: daemon.stdout(),
      stderr: daemon.stderr(),
      ...readFilesBelow(daemon.home, null),
      ...readFilesBelow(cwd, null),
    };
    assert.notEqual(texts.stderr + texts.stdout, "");
    for (const secret of tools.flatMap(({ secrets }) => secrets)) {
      assertNowhere(secret, texts);
      for (const name of readdirSync(cwd).filter((one) => one.startsWith("core")))
        assert.equal(readFileSync(join(cwd, name)).includes(Buffer.from(secret, "utf16le")), false, name);
    }
  });
}
