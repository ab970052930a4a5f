// E2, a failing disk: requests succeed whatever the disk does. Records that cannot be written are queued, counted and reported once
// a minute, and written when the disk works again.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseRecord } from "../../src/core/ledger/parse-record.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { holdTime } from "../helpers/async/hold-time.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import {
  mountDisk,
  remountDisk,
  ledgerScratchDirectory,
  startLedgerGate,
  TODAY,
} from "../helpers/ledger/ledger.ts";
import {
  sendJson,
  MESSAGE,
  SSE,
  MESSAGE_EVENTS,
  startUpstream,
  type Script,
} from "../helpers/upstream/scripted-upstream.ts";
import { fillDisk, PAGE_BYTES, ledgerDirectoryOn, DISK_FAULTS } from "./disk-faults.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";

const LIMIT = { timeout: 300_000 };

/** Makes a script whose responses have the ids a, b, c, ... */
function respondWithLetters(): Script {
  let count = 0;
  return (_seen, res) => sendJson(res, { ...MESSAGE, id: letter(count++) });
}

/** More than 60,000 bytes for a record, in words short enough to be recorded. */
const BULK = Array.from({ length: 1_900 }, () => "x".repeat(30));

const letter = (index: number) => String.fromCharCode("a".charCodeAt(0) + index);

/** Sends `count` requests, and fails unless each response is complete. */
async function sendRequests(daemon: { url: string }, count = 1): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const res = await post(daemon, "/v1/messages", { model: "m" });
    assert.equal(((await res.json()) as { type: string }).type, "message");
  }
}

/** Reads the ledger files, every line of which must be complete. Returns the response ids in the order of the records. */
function readResponseIds(directory: string): (string | null)[] {
  const days = readdirSync(directory).filter((name) => name.endsWith(".ndjson"));
  const lines = days.flatMap((day) => readFileSync(join(directory, day), "utf8").split(/(?<=\n)/));
  const whole = lines.filter((line) => parseRecord(line) !== "torn");
  return whole.map((line) => {
    assert.ok(line.endsWith("\n"));
    return (JSON.parse(line) as UsageRecord).response_id;
  });
}

for (const { what, reason, prepare, begin, end } of DISK_FAULTS) {
  test(`with ${what} requests succeed, records are queued and written in order, and one report is logged a minute`, async (t) => {
    const directory = prepare(t);
    if (directory === null) return;
    const { gate, ledger, clock, log } = await startLedgerGate(
      t,
      (await startUpstream(t, respondWithLetters())).baseUrl,
      {
        directory,
      },
    );
    // The ledger would also try again by itself, a second later.
    holdTime(t);
    begin(directory);
    await sendRequests(gate, 3);
    assert.equal(ledger.health().waiting, 3);
    assert.match(ledger.health().lastError ?? "", reason);
    clock.advance(59_999);
    await sendRequests(gate);
    assert.equal(log.lines.length, 1);
    assert.match(log.lines[0] ?? "", /^error the ledger cannot be written; records wait in memory/);
    clock.advance(1);
    await sendRequests(gate);
    assert.equal(log.lines.length, 2);
    assert.match(log.lines[1] ?? "", /"waiting":5,"lost":0/);
    end(directory);
    clock.advance(1000);
    await sendRequests(gate);
    assert.deepEqual(readResponseIds(directory), ["a", "b", "c", "d", "e", "f"]);
    const { written, waiting, lost } = ledger.health();
    assert.deepEqual({ written, waiting, lost }, { written: 6, waiting: 0, lost: 0 });
    assert.deepEqual(log.lines.slice(2), ['info the ledger is written again {"written":6,"lost":0}']);
  });
}

test("a record that was only partly written is written whole later, and the part is in no sum", async (t) => {
  const directory = ledgerDirectoryOn(mountDisk(t, 8 * PAGE_BYTES));
  if (directory === null) return;
  const upstream = await startUpstream(t, respondWithLetters());
  const { gate, ledger, clock } = await startLedgerGate(t, upstream.baseUrl, { directory });
  await sendRequests(gate);
  const usage = { ...MESSAGE.usage, notes: BULK };
  upstream.respondWith((_seen, res) => sendJson(res, { ...MESSAGE, id: "large", usage }));
  await sendRequests(gate);
  assert.match(ledger.health().lastError ?? "", /^only 0 of 1 records could be written$/);
  remountDisk(join(directory, ".."), "size=1m");
  clock.advance(1000);
  upstream.respondWith((_seen, res) => res.writeHead(200, SSE).end(MESSAGE_EVENTS.join("")));
  await (await post(gate, "/v1/messages", {})).text();
  assert.deepEqual(readResponseIds(directory), ["a", "large", "msg_1"]);
});

/** What may happen to the files of a running daemon after two records, and the records that are left after two more. */
const FILE_CHANGES: [what: string, move: (file: string, directory: string) => void, left: string[]][] = [
  ["deleted", (file) => rmSync(file), ["c", "d"]],
  ["replaced by an empty one", (file) => replace(file, ""), ["c", "d"]],
  ["replaced by a copy of itself", (file) => replace(file, readFileSync(file, "utf8")), ["a", "b", "c", "d"]],
  ["emptied", (file) => writeFileSync(file, ""), ["c", "d"]],
  ["deleted with its directory", (_file, directory) => rmSync(directory, { recursive: true }), ["c", "d"]],
  ["deleted with an empty directory left", (_file, directory) => emptyDirectory(directory), ["c", "d"]],
];

function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

function emptyDirectory(directory: string): void {
  rmSync(directory, { recursive: true });
  mkdirSync(directory, { mode: 0o700 });
}

for (const [what, move, left] of FILE_CHANGES) {
  test(`a ledger file that is ${what} while it is open costs none of the records after that`, async (t) => {
    const { gate, ledger, directory } = await startLedgerGate(
      t,
      (await startUpstream(t, respondWithLetters())).baseUrl,
    );
    await sendRequests(gate, 2);
    move(join(directory, `${TODAY}.ndjson`), directory);
    await sendRequests(gate, 2);
    assert.deepEqual(readResponseIds(directory), left);
    assert.equal(ledger.health().waiting, 0);
  });
}

test("records that the full queue cannot take are counted as lost once, and queued ones are written in the end", async (t) => {
  const scratch = ledgerScratchDirectory(t);
  const directory = join(scratch, "ledger");
  const usage = { ...MESSAGE.usage, notes: BULK };
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { ...MESSAGE, usage }));
  const { gate, ledger, clock } = await startLedgerGate(t, upstream.baseUrl, { directory });
  rmSync(directory, { recursive: true });
  writeFileSync(directory, "");
  await Promise.all(Array.from({ length: 15 }, () => sendRequests(gate, 20)));
  const { waiting, lost } = ledger.health();
  assert.equal(waiting + lost, 300);
  assert.ok(lost > 0 && waiting * 60_000 < 16 * 1024 * 1024);
  rmSync(directory);
  clock.advance(1000);
  await sendRequests(gate);
  assert.equal(readResponseIds(directory).length, waiting + 1);
  assert.deepEqual(ledger.health().lost, lost);
});

test(
  "a daemon on a full disk serves, reports it in `status`, and writes queued records without another request",
  LIMIT,
  async (t) => {
    const disk = mountDisk(t, 16 * PAGE_BYTES);
    if (disk === null) return;
    const directory = join(disk, "ledger");
    const { daemon } = await startDaemonWithUpstream(t, respondWithLetters(), {
      config: { ledger: { directory } },
    });
    fillDisk(join(disk, "ballast"));
    await sendRequests(daemon, 3);
    const sick = await daemon.command("status");
    assert.equal(sick.code, 1);
    assert.match(
      sick.stdout,
      /^ledger .*, 0 written, 3 waiting, 0 lost: (.*the disk is full|.*could be written)/m,
    );
    assert.match(sick.stdout, /^last error +the ledger cannot be written/m);
    rmSync(join(disk, "ballast"));
    await daemon.waitForOutput(/"msg":"the ledger is written again"/);
    assert.deepEqual(readResponseIds(directory), ["a", "b", "c"]);
    assert.equal((await daemon.status()).ledger.waiting, 0);
    assert.equal(await daemon.stop(), 0);
  },
);

/** A launcher for `startDaemon` that appends standard error to a file, as launchd's StandardErrorPath does. */
const loggingTo = (file: string) => ["/bin/sh", "-c", `exec "$@" 2>> '${file}'`, "sh"];

const noFullDevice = existsSync("/dev/full") ? false : "needs Linux's /dev/full";

test(
  "a daemon whose log can never be written starts, serves and stops",
  { skip: noFullDevice, ...LIMIT },
  async (t) => {
    const daemon = await startDaemon(t, { launcher: loggingTo("/dev/full") });
    assert.equal((await fetch(`${daemon.url}/v1/models`)).status, 200);
    assert.equal((await daemon.ledger()).length, 1);
    assert.equal(await daemon.stop(), 0);
  },
);

test(
  "a disk that fills up under the log costs only log lines, and their number is logged once there is room again",
  LIMIT,
  async (t) => {
    const disk = mountDisk(t, 16 * PAGE_BYTES);
    if (disk === null) return;
    const { path, config } = writeKeyFile(t, "http://127.0.0.1:9/v1", "");
    const log = join(disk, "log");
    const daemon = await startDaemon(t, { config, launcher: loggingTo(log) });
    // Each of these requests logs a line, because the key is missing.
    const sendRefused = async (count: number) => {
      for (let i = 0; i < count; i += 1) {
        assert.equal((await post(daemon, "/v1/messages", {})).status, 402);
      }
    };
    fillDisk(join(disk, "ballast"));
    await sendRefused(60);
    assert.equal((await daemon.ledger()).length, 60);
    rmSync(join(disk, "ballast"));
    await sendRefused(2);
    assert.equal(await daemon.stop(), 0);
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as { msg: string; dropped?: number });
    const logged = entries.filter(({ msg }) => msg.includes(path));
    const [resumed, ...more] = entries.flatMap(({ dropped }) => dropped ?? []);
    assert.ok(resumed !== undefined && resumed > 0 && more.length === 0);
    // One more from the start, which looks at the file.
    assert.equal(logged.length + resumed, 63);
  },
);
