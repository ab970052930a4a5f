// A random key goes every way that there is through a real daemon, at its most talkative, and is then looked for wherever
// it could have been left. What cannot be kept in is left out: the body of an answer that succeeded is not ours to change,
// nor can a compressed one be searched. Under NODE_DEBUG=http Node itself would print the headers of each new upstream
// connection, so the daemon does not start (b9-memory-and-processes.test.ts).
import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { SCHEMA, SERVICE } from "../../src/adapters/keychain/protocol.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { noKeyring, startSession } from "../helpers/keychain/keychain-session.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { rawClient } from "../helpers/client/raw-client.ts";
import { startTail } from "../helpers/daemon/tail.ts";
import {
  sendJson,
  MESSAGE,
  MESSAGE_EVENTS,
  SSE,
  startUpstream,
} from "../helpers/upstream/scripted-upstream.ts";
import { assertNowhere, describeProcesses, makeSentinel, readFilesBelow } from "./leak-search.ts";

/** What an upstream can do that knows the key, because it was sent it. */
const UPSTREAMS: Record<string, (res: ServerResponse, key: string) => void> = {
  "an answer": (res) => sendJson(res, MESSAGE),
  "a stream": (res) => res.writeHead(200, SSE).end(MESSAGE_EVENTS.join("")),
  "an echo in headers": (res, key) =>
    res.writeHead(200, `OK ${key}`, { "request-id": key, "x-echo": [key, `Bearer ${key}`] }).end("{}"),
  "an echo in early hints and trailers": (res, key) => {
    res.writeEarlyHints({ link: `</${key}>; rel=preload` });
    res.writeHead(200, { trailer: "x-echo" });
    res.addTrailers({ "x-echo": key });
    res.end("{}");
  },
  "a refusal that repeats the key, cut in two": (res, key) => {
    const error = { type: key, code: key, message: `no such key: ${key}` };
    const body = JSON.stringify({ type: "error", error });
    const middle = body.lastIndexOf(key) + 20;
    res.writeHead(401, { "content-type": "application/json", "www-authenticate": `Bearer ${key}` });
    res.write(body.slice(0, middle), () => setImmediate(() => res.end(body.slice(middle))));
  },
  "an error with a length": (res, key) => sendJson(res, { error: { type: key, message: key } }, 529),
  "a redirect": (res, key) => res.writeHead(307, { location: `https://other.example.com/?k=${key}` }).end(),
  "no answer": (res) => res.destroy(),
  "half a stream": (res) => res.writeHead(200, SSE).write(MESSAGE_EVENTS[0], () => res.destroy()),
  "something that is not HTTP": (res, key) => res.socket?.end(`HTTP/1.1 200 OK\r\nx ${key}: ${key}\r\n\r\n`),
};

/** An upstream that names models and ids by the key: nobody may change the answer, but the ledger is ours. */
const ECHO_IN_SUCCESS = (res: ServerResponse, key: string) => {
  const usage = { input_tokens: 1, output_tokens: 1, service_tier: key, [key]: key };
  sendJson(res, { ...MESSAGE, id: key, model: key, stop_reason: key, usage });
};

const REFUSED = [
  "GET /v1/messages",
  "POST /v1/nothing",
  "GET http://evil.example/v1/models",
  "OPTIONS /v1/models",
];

/** Everything that comes back for one request, as bytes. */
async function exchange(t: TestContext, { port }: Daemon, line: string): Promise<string> {
  const client = await rawClient(t, port);
  const head = `Host: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
  client.write(`${line} HTTP/1.1\r\n${head}Content-Length: 13\r\n\r\n{"model":"m"}`);
  return client.closed;
}

/** What the program tells people and scripts while the daemon runs. */
async function askEverything(daemon: Daemon): Promise<Record<string, string>> {
  const commands = [
    "status",
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
  const said = commands.map(async (words) => {
    const { stdout, stderr } = await daemon.command(...words.split(" "));
    return [words, stdout + stderr] as const;
  });
  return Object.fromEntries(await Promise.all(said));
}

interface Source {
  keySource?: object;
  env?: Record<string, string>;
  /** The file with the key in it. */
  keyFile: string | null;
  /** Where the source's other files are. */
  directory: string;
}

/** Sends the key every way, and looks for it. */
async function hunt(t: TestContext, key: string, prepare: (origin: string) => Promise<Source> | Source) {
  let answer = UPSTREAMS["an answer"];
  const upstream = await startUpstream(t, (_seen, res) => answer?.(res, key));
  const { keySource, env, keyFile, directory } = await prepare(upstream.origin);
  const daemon = await startDaemon(t, {
    config: { upstreams: { default: { baseUrl: upstream.baseUrl, keySource } } },
    env: { ...env, DEBUG: "*" },
    args: ["--debug"],
  });
  const texts: Record<string, string> = {};
  const tails = [await startTail(t, daemon), await startTail(t, daemon, "--json")];
  for (const [what, script] of Object.entries(UPSTREAMS)) {
    answer = script;
    texts[`answer to ${what}`] = await exchange(t, daemon, "POST /v1/messages?beta=true");
  }
  for (const line of REFUSED) texts[`answer to ${line}`] = await exchange(t, daemon, line);
  answer = ECHO_IN_SUCCESS;
  await exchange(t, daemon, "POST /v1/messages");
  Object.assign(texts, await askEverything(daemon), describeProcesses());
  assert.equal(await daemon.stop(), 0);
  for (const [index, tail] of tails.entries()) {
    const said = await tail.output;
    assert.equal(said.split("\n").length - 1, Object.keys(UPSTREAMS).length + 1);
    texts[`tail ${index}`] = said;
  }
  const asked = upstream.seen.filter(({ method }) => method === "POST");
  assert.deepEqual(
    asked.map(({ headers }) => headers["x-api-key"]),
    Object.keys(UPSTREAMS)
      .concat("success")
      .map(() => key),
  );
  assert.equal((await daemon.ledger()).length, asked.length);
  Object.assign(texts, { stdout: daemon.stdout(), stderr: daemon.stderr() });
  Object.assign(texts, readFilesBelow(daemon.home, keyFile), readFilesBelow(directory, keyFile));
  assertNowhere(key, texts);
}

/** A file of mode 0600 in a directory of its own. */
function writePrivate(t: TestContext, name: string, content: string) {
  const directory = scratchDirectory(t);
  const path = join(directory, name);
  writeFileSync(path, content, { mode: 0o600 });
  return { directory, path };
}

test("a key from a file is nowhere but in the file and at the upstream", async (t) => {
  const key = makeSentinel();
  const { directory, path } = writePrivate(t, "key", key);
  await hunt(t, key, () => ({ keySource: { file: path }, keyFile: path, directory }));
});

test("a key from a command is nowhere else either, nor does the command get to see anything", async (t) => {
  const key = makeSentinel();
  const { directory, path } = writePrivate(t, "key", key);
  const script = join(directory, "print-key");
  writeFileSync(script, `#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ > "$0.environ"\ncat "$1"\n`);
  chmodSync(script, 0o700);
  await hunt(t, key, () => ({ keySource: { command: [script, path] }, keyFile: path, directory }));
});

test("a key from a systemd credential is nowhere else either", async (t) => {
  const key = makeSentinel();
  const { directory, path } = writePrivate(t, "upstream-key", key);
  await hunt(t, key, () => ({
    keySource: { credential: "upstream-key" },
    env: { CREDENTIALS_DIRECTORY: directory },
    keyFile: path,
    directory,
  }));
});

test("a key from the keychain is nowhere else either", { skip: noKeyring }, async (t) => {
  const key = makeSentinel();
  const session = await startSession(t);
  await session.startUnlocked();
  await hunt(t, key, async (origin) => {
    await session.storeItem(key, "xdg:schema", SCHEMA, "service", SERVICE, "account", `default@${origin}`);
    const { DBUS_SESSION_BUS_ADDRESS } = session.env;
    return { env: { DBUS_SESSION_BUS_ADDRESS }, keyFile: null, directory: session.directory };
  });
});
