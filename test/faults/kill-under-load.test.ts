// Every response that a client received completely has its record, however often the daemon is killed under load.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { ledgerScratchDirectory } from "../helpers/ledger/ledger.ts";
import { sendJson, MESSAGE, SSE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";

const KILLS = 10;
const CLIENTS = 16;

/** Only a line of several pages can be torn by a kill: Linux checks for a fatal signal between two pages of a write. */
const LONG_USAGE = { note: Array.from({ length: 400 }, () => "a usage of its own making, of many pages") };

/** Sends response number `count`, which its id and its input tokens identify. Some records are long. */
function respond(res: ServerResponse, count: number, stream: boolean): void {
  const usage = { input_tokens: count, output_tokens: 1, ...(count % 3 === 0 ? LONG_USAGE : {}) };
  const message = { ...MESSAGE, id: `msg_${count}`, usage };
  if (!stream) return sendJson(res, message);
  const events = [
    { type: "message_start", message },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ];
  res.writeHead(200, SSE);
  for (const event of events) res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  res.end();
}

/** Runs sixteen clients until they have received `target` more complete responses, then kills the daemon. Adds the ids to `seen`. */
async function loadAndKill(daemon: Daemon, seen: Set<number>, target: number): Promise<void> {
  const enough = seen.size + target;
  const client = async (stream: boolean) => {
    while (seen.size < enough) {
      const res = await post(daemon, "/v1/messages", { model: "m", stream });
      seen.add(Number(/"id":"msg_(\d+)"/.exec(await res.text())?.[1]));
    }
    // The other clients are in the middle of their requests.
    process.kill(daemon.pid, "SIGKILL");
  };
  const ends = await Promise.allSettled(
    Array.from({ length: CLIENTS }, (_, index) => client(index % 2 === 0)),
  );
  assert.ok(ends.some(({ status }) => status === "fulfilled"));
  assert.equal(await daemon.ended, null);
}

/** Reads the complete lines of all ledger files with this ending, and separately the torn rest of each file. */
function linesOf(directory: string, ending: ".ndjson" | ".torn"): { whole: string[]; torn: string[] } {
  const texts = readdirSync(directory)
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(directory, name), "utf8").split("\n"));
  const torn = texts.map((lines) => lines.pop() ?? "").filter((rest) => rest !== "");
  return { whole: texts.flat(), torn };
}

/** Prepares a daemon with a fixed state directory, in front of an upstream that numbers its responses. */
async function prepareDaemon(t: TestContext, count: () => number) {
  const upstream = await startUpstream(t, ({ body }, res) =>
    respond(res, count(), (JSON.parse(body.toString()) as { stream: boolean }).stream),
  );
  const { config } = writeKeyFile(t, upstream.baseUrl, "some-key");
  const state = ledgerScratchDirectory(t);
  const start = () => startDaemon(t, { config, env: { XDG_STATE_HOME: state } });
  return { start, directory: join(state, "tollkeeper", "ledger") };
}

test("after ten kills under load each complete response has one record, and only last lines are torn", async (t) => {
  let answered = 0;
  const { start, directory } = await prepareDaemon(t, () => (answered += 1));
  const seen = new Set<number>();
  let tears = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const daemon = await start();
    assert.equal(linesOf(directory, ".torn").whole.length, tears, "torn lines are set aside at the start");
    await loadAndKill(daemon, seen, 50 + 17 * kill);
    const { whole, torn } = linesOf(directory, ".ndjson");
    for (const line of whole) JSON.parse(line);
    assert.ok(torn.length <= 1);
    tears += torn.length;
  }
  const last = await start();
  assert.equal(await last.stop(), 0);
  const records = linesOf(directory, ".ndjson").whole.map((line) => JSON.parse(line) as UsageRecord);
  const counts = new Map(records.map(({ response_id, tokens }) => [response_id, tokens?.input_total]));
  t.diagnostic(
    `${KILLS} kills; ${answered} responses, ${seen.size} complete for a client, ${records.length} records, ${tears} torn lines`,
  );
  for (const number of seen) assert.equal(counts.get(`msg_${number}`), number);
  assert.equal(new Set(records.map(({ id }) => id)).size, records.length);
  const ids = records.flatMap(({ response_id }) => response_id ?? []);
  assert.equal(new Set(ids).size, ids.length, "no response is recorded twice");
});
