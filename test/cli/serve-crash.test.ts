import assert from "node:assert/strict";
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startDaemon } from "../helpers/daemon.ts";
import { post } from "../helpers/gate.ts";
import { keyInFile } from "../helpers/key-file.ts";
import { rawClient, rawRequest } from "../helpers/raw-client.ts";
import { answerJson, MESSAGE, MESSAGE_EVENTS, startHeldUpstream } from "../helpers/upstream.ts";

test("killed in mid-stream, a daemon loses that record alone, and the next one starts in its place", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const { config } = keyInFile(t, upstream.baseUrl, "some-key");
  const killed = await startDaemon(t, { config });
  const client = await rawClient(t, killed.port);
  client.write(rawRequest(killed.port));
  (await held).write(MESSAGE_EVENTS[0]);
  await client.until(/message_start/);
  upstream.answer((_seen, res) => answerJson(res, MESSAGE));
  await (await post(killed, "/v1/messages", {})).text();
  process.kill(killed.pid, "SIGKILL");
  assert.equal(await killed.ended, null);
  assert.doesNotMatch(await client.closed, /\r\n0\r\n\r\n$/);

  const socket = join(killed.home, "run", "tollkeeper", "control.sock");
  assert.ok(existsSync(socket), "the kill leaves its socket behind");
  const directory = join(killed.home, "state", "tollkeeper", "ledger");
  const day = join(directory, readdirSync(directory)[0] ?? "");
  const torn = '{"v":1,"id":"torn in the mid';
  appendFileSync(day, torn);

  const env = { XDG_STATE_HOME: join(killed.home, "state"), XDG_RUNTIME_DIR: join(killed.home, "run") };
  const next = await startDaemon(t, { config, env });
  assert.match(next.stderr(), /"msg":"a torn last line of the ledger was set aside"/);
  await (await post(next, "/v1/messages", {})).text();
  assert.deepEqual(
    (await next.ledger()).map(({ outcome, stream }) => [outcome, stream]),
    [
      ["completed", false],
      ["completed", false],
    ],
  );
  const aside = readdirSync(directory).filter((name) => join(directory, name) !== day);
  assert.equal(aside.length, 1);
  assert.equal(readFileSync(join(directory, aside[0] ?? ""), "utf8"), `${torn}\n`);
  assert.equal(await next.stop(), 0);
});
