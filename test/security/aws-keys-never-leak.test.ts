// Random access keys of AWS sign requests in a real daemon at its most verbose, and are then searched for wherever they could have been
// left. AWS repeats the session token where it explains why a signature is wrong.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { CONVERSE_FRAMES } from "../helpers/upstream/bedrock-answers.ts";
import { EVENT_STREAM_TYPE } from "../helpers/upstream/bedrock-frames.ts";
import { sendJson, startUpstream, type SeenRequest } from "../helpers/upstream/scripted-upstream.ts";
import { findSignatureFault } from "../helpers/upstream/sigv4-verifier.ts";
import { assertNowhere, describeProcesses, makeSentinel, readFilesBelow } from "./leak-search.ts";

const CONVERSE = "/model/us.amazon.nova-lite-v1:0/converse";

/** What AWS says with 403 where it does not accept a signature. */
function explain({ rawHeaders }: SeenRequest, res: ServerResponse, name: string): void {
  res.setHeader("x-amzn-errortype", name);
  sendJson(res, { message: `The Canonical String should have been '${rawHeaders.join("\n")}'` }, 403);
}

test("access keys are found only in what the command reads, and nothing of them but the token at AWS", async (t) => {
  const keys = {
    accessKeyId: `ASIA${randomBytes(8).toString("hex").toUpperCase()}`,
    secretAccessKey: makeSentinel(),
    sessionToken: makeSentinel(),
  };
  const directory = scratchDirectory(t);
  const path = join(directory, "printed.json");
  const printed = {
    Version: 1,
    AccessKeyId: keys.accessKeyId,
    SecretAccessKey: keys.secretAccessKey,
    SessionToken: keys.sessionToken,
    Expiration: new Date(Date.now() + 3_600_000).toISOString(),
  };
  writeFileSync(path, JSON.stringify(printed), { mode: 0o600 });
  const script = join(directory, "print-keys");
  const fails = `[ -e "$0.ran" ] && cat "$1" >&2 && exit 1`;
  writeFileSync(script, `#!/bin/sh\ncat "$1"\n${fails}\n: > "$0.ran"\n`, { mode: 0o700 });
  const upstream = await startUpstream(t, (seen, res) => sendJson(res, { output: {}, url: seen.url }));
  const signed = {
    baseUrl: `${upstream.origin}/model`,
    apis: ["bedrock"],
    auth: "sigv4",
    region: "eu-west-1",
    keySource: { command: [script, path] },
  };
  const daemon = await startDaemon(t, {
    config: { upstreams: { default: signed } },
    env: { DEBUG: "*" },
    args: ["--debug"],
  });
  const texts: Record<string, string> = {};
  const ask = async (what: string) => {
    const body = JSON.stringify({ messages: [] });
    const headers = { "content-type": "application/json" };
    const response = await fetch(daemon.url + CONVERSE, { method: "POST", headers, body });
    texts[what] = `${[...response.headers].join()} ${await response.text()}`;
    return response.status;
  };
  assert.equal(await ask("a response"), 200);
  upstream.respondWith(
    (_seen, res) =>
      void res.writeHead(200, { "content-type": EVENT_STREAM_TYPE }).end(Buffer.concat(CONVERSE_FRAMES)),
  );
  assert.equal(await ask("a stream"), 200);
  upstream.respondWith((seen, res) => explain(seen, res, "InvalidSignatureException"));
  assert.equal(await ask("a wrong signature"), 403);
  upstream.respondWith((seen, res) => explain(seen, res, "ExpiredTokenException"));
  assert.equal(await ask("an expired token"), 403);
  for (const words of ["status --json", "key list --json", "key test", "config check", "doctor --json"]) {
    const { stdout, stderr } = await daemon.command(...words.split(" "));
    texts[words] = stdout + stderr;
  }
  Object.assign(texts, describeProcesses());
  assert.equal(await daemon.stop(), 0);
  for (const seen of upstream.seen) {
    const expected = { keys, region: "eu-west-1", service: "bedrock", now: Date.now() };
    assert.equal(findSignatureFault(seen, expected), null);
    assertNowhere(keys.secretAccessKey, {
      request: `${seen.url} ${seen.rawHeaders.join()} ${String(seen.body)}`,
    });
  }
  assert.equal(upstream.seen.length, 4);
  Object.assign(texts, { stdout: daemon.stdout(), stderr: daemon.stderr() });
  Object.assign(texts, readFilesBelow(daemon.home, path), readFilesBelow(directory, path));
  assertNowhere(keys.secretAccessKey, texts);
  assertNowhere(keys.sessionToken, texts);
});
