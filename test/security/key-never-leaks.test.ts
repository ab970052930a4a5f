// A random key takes every path through a real daemon at its most verbose, and is then searched for wherever it could have been left.
// The body of a successful response is left out, because it is passed on unchanged. Under NODE_DEBUG=http Node itself would print the
// headers of each upstream connection, so the daemon does not start (b9-memory-and-processes.test.ts).
import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { noKeyring, startUnlockedSession } from "../helpers/keychain/keychain-session.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { rawClient } from "../helpers/client/raw-client.ts";
import { startTail } from "../helpers/daemon/tail.ts";
import { startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { ECHO_IN_SUCCESS, RESPONSES } from "./echoing-responses.ts";
import { assertNowhere, describeProcesses, makeSentinel, readFilesBelow } from "./leak-search.ts";

const REFUSED = [
  "GET /v1/messages",
  "POST /v1/nothing",
  "GET http://evil.example/v1/models",
  "OPTIONS /v1/models",
];

/** Sends a request and returns everything that comes back (latin1). */
async function exchange(t: TestContext, { port }: Daemon, line: string): Promise<string> {
  const client = await rawClient(t, port);
  const head = `Host: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
  client.write(`${line} HTTP/1.1\r\n${head}Content-Length: 13\r\n\r\n{"model":"m"}`);
  return client.closed;
}

/** Runs every command that prints something about the running daemon. */
async function runAllCommands(daemon: Daemon): Promise<Record<string, string>> {
  const commands = [
    "status",
    "top",
    "status --json",
    "usage",
    "usage --json",
    "key list",
    "key list --json",
    "key test",
    "config check",
    "doctor",
    "doctor --json",
  ];
  const outputs: Record<string, string> = {};
  // One after another, because at once each would need a process of its own.
  for (const words of commands) {
    const { stdout, stderr } = await daemon.command(...words.split(" "));
    outputs[words] = stdout + stderr;
  }
  return outputs;
}

interface Source {
  keySource?: object;
  env?: Record<string, string>;
  /** The file that contains the key. */
  keyFile: string | null;
  /** The directory of the source's other files. */
  directory: string;
}

/** Lets the key take every path and fails when it is found anywhere. */
async function assertNoLeak(
  t: TestContext,
  key: string,
  prepare: (origin: string) => Promise<Source> | Source,
) {
  let respond = RESPONSES["a message"];
  const upstream = await startUpstream(t, (_seen, res) => respond?.(res, key));
  const { keySource, env, keyFile, directory } = await prepare(upstream.origin);
  const daemon = await startDaemon(t, {
    config: { upstreams: { default: { baseUrl: upstream.baseUrl, keySource } } },
    env: { ...env, DEBUG: "*" },
    args: ["--debug"],
  });
  const texts: Record<string, string> = {};
  const tails = [await startTail(t, daemon), await startTail(t, daemon, "--json")];
  for (const [what, script] of Object.entries(RESPONSES)) {
    respond = script;
    texts[`response to ${what}`] = await exchange(t, daemon, "POST /v1/messages?beta=true");
  }
  for (const line of REFUSED) texts[`response to ${line}`] = await exchange(t, daemon, line);
  respond = ECHO_IN_SUCCESS;
  await exchange(t, daemon, "POST /v1/messages");
  Object.assign(texts, await runAllCommands(daemon), describeProcesses());
  assert.equal(await daemon.stop(), 0);
  for (const [index, tail] of tails.entries()) {
    assert.match(String((await tail.notes.next()).value), /^the daemon has stopped/);
    tail.stop();
    const output = await tail.output;
    assert.equal(output.split("\n").length - 1, Object.keys(RESPONSES).length + REFUSED.length + 1);
    texts[`tail ${index}`] = output;
  }
  const asked = upstream.seen.filter(({ method }) => method === "POST");
  assert.deepEqual(
    asked.map(({ headers }) => headers["x-api-key"]),
    Object.keys(RESPONSES)
      .concat("success")
      .map(() => key),
  );
  assert.equal((await daemon.ledger()).length, asked.length);
  Object.assign(texts, { stdout: daemon.stdout(), stderr: daemon.stderr() });
  Object.assign(texts, readFilesBelow(daemon.home, keyFile), readFilesBelow(directory, keyFile));
  assertNowhere(key, texts);
}

/** Writes a file of mode 0600 in a directory of its own. */
function writePrivate(t: TestContext, name: string, content: string) {
  const directory = scratchDirectory(t);
  const path = join(directory, name);
  writeFileSync(path, content, { mode: 0o600 });
  return { directory, path };
}

test("a key from a file is found only in the file and at the upstream", async (t) => {
  const key = makeSentinel();
  const { directory, path } = writePrivate(t, "key", key);
  await assertNoLeak(t, key, () => ({ keySource: { file: path }, keyFile: path, directory }));
});

test("a key from a command is found only at the upstream, and not in the command's environment", async (t) => {
  const key = makeSentinel();
  const { directory, path } = writePrivate(t, "key", key);
  const script = join(directory, "print-key");
  writeFileSync(script, `#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ > "$0.environ"\ncat "$1"\n`);
  chmodSync(script, 0o700);
  await assertNoLeak(t, key, () => ({ keySource: { command: [script, path] }, keyFile: path, directory }));
});

test("a token that expires is found only at the upstream, also when it cannot be refreshed", async (t) => {
  const key = makeSentinel();
  const expirationTimestamp = new Date(Date.now() + 3_600_000).toISOString();
  const text = JSON.stringify({ kind: "ExecCredential", status: { token: key, expirationTimestamp } });
  const { directory, path } = writePrivate(t, "token", text);
  const script = join(directory, "print-token");
  writeFileSync(script, `#!/bin/sh\ncat "$1"\n[ -e "$0.ran" ] && cat "$1" >&2 && exit 1\n: > "$0.ran"\n`);
  chmodSync(script, 0o700);
  await assertNoLeak(t, key, () => ({ keySource: { command: [script, path] }, keyFile: path, directory }));
});

test("a key from a systemd credential is found only in the credential and at the upstream", async (t) => {
  const key = makeSentinel();
  const { directory, path } = writePrivate(t, "upstream-key", key);
  await assertNoLeak(t, key, () => ({
    keySource: { credential: "upstream-key" },
    env: { CREDENTIALS_DIRECTORY: directory },
    keyFile: path,
    directory,
  }));
});

test("a key from the keychain is found only at the upstream", { skip: noKeyring }, async (t) => {
  const key = makeSentinel();
  const session = await startUnlockedSession(t);
  await assertNoLeak(t, key, async (origin) => {
    await session.storeKey(key, origin);
    return { env: session.busEnv, keyFile: null, directory: session.directory };
  });
});
