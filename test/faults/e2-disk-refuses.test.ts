// E2, a disk that refuses: whatever the disk does, requests go through; what it refuses is kept, counted and reported once a minute, and written when it takes it again.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { keyInFile } from "../helpers/keychain/key-file.ts";
import { mountDisk, remountDisk, scratchDirectory, startLedgerGate, TODAY } from "../helpers/ledger/ledger.ts";
import {
  answerJson,
  MESSAGE,
  SSE,
  MESSAGE_EVENTS,
  startUpstream,
  type ScriptedUpstream,
} from "../helpers/upstream/scripted-upstream.ts";
import { fill, PAGE_BYTES, placeOn, TROUBLES } from "./troubles.ts";

/** A wait for what does not come is a failure. */
const LIMIT = { timeout: 60_000 };

/** An upstream whose answers are called a, b, c, ... */
async function startLettered(t: TestContext): Promise<ScriptedUpstream> {
  let answered = 0;
  return startUpstream(t, (_seen, res) => answerJson(res, { ...MESSAGE, id: letter(answered++) }));
}

/** More than 60,000 bytes of a record, in words short enough to be kept. */
const BULK = Array.from({ length: 1_900 }, () => "x".repeat(30));

const letter = (index: number) => String.fromCharCode("a".charCodeAt(0) + index);

/** Sends `count` requests; each must come back whole. */
async function request(daemon: { url: string }, count = 1): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const res = await post(daemon, "/v1/messages", { model: "m" });
    assert.equal(((await res.json()) as { type: string }).type, "message");
  }
}

/** Ids of the answers in the order of their records, from files whose every line is whole. */
function recorded(directory: string): (string | null)[] {
  const days = readdirSync(directory).filter((name) => name.endsWith(".ndjson"));
  const lines = days.flatMap((day) => readFileSync(join(directory, day), "utf8").split(/(?<=\n)/));
  return lines.map((line) => {
    assert.ok(line.endsWith("\n"));
    return (JSON.parse(line) as UsageRecord).response_id;
  });
}

for (const { what, reason, place, begin, end } of TROUBLES) {
  test(`${what}: requests go on, records wait and are written in order; one report a minute`, async (t) => {
    const directory = place(t);
    if (directory === null) return;
    const { gate, ledger, clock, log } = await startLedgerGate(t, (await startLettered(t)).baseUrl, {
      directory,
    });
    begin(directory);
    await request(gate, 3);
    assert.equal(ledger.health().waiting, 3);
    assert.match(ledger.health().lastError ?? "", reason);
    clock.advance(59_999);
    await request(gate);
    assert.equal(log.lines.length, 1);
    assert.match(log.lines[0] ?? "", /^error the ledger cannot be written; records wait in memory/);
    clock.advance(1);
    await request(gate);
    assert.equal(log.lines.length, 2);
    assert.match(log.lines[1] ?? "", /"waiting":5,"lost":0/);
    end(directory);
    clock.advance(1000);
    await request(gate);
    assert.deepEqual(recorded(directory), ["a", "b", "c", "d", "e", "f"]);
    const { written, waiting, lost } = ledger.health();
    assert.deepEqual({ written, waiting, lost }, { written: 6, waiting: 0, lost: 0 });
    assert.deepEqual(log.lines.slice(2), ['info the ledger is written again {"written":6,"lost":0}']);
  });
}

test("a line of which the disk takes only a part is taken back: every line in the file stays whole", async (t) => {
  const directory = placeOn(mountDisk(t, 8 * PAGE_BYTES));
  if (directory === null) return;
  const upstream = await startLettered(t);
  const { gate, ledger, clock } = await startLedgerGate(t, upstream.baseUrl, { directory });
  await request(gate);
  const usage = { ...MESSAGE.usage, notes: BULK };
  upstream.answer((_seen, res) => answerJson(res, { ...MESSAGE, id: "large", usage }));
  await request(gate);
  assert.match(ledger.health().lastError ?? "", /^the disk took \d+ of \d+ bytes$/);
  assert.deepEqual(recorded(directory), ["a"]);
  remountDisk(join(directory, ".."), "size=1m");
  clock.advance(1000);
  upstream.answer((_seen, res) => res.writeHead(200, SSE).end(MESSAGE_EVENTS.join("")));
  await (await post(gate, "/v1/messages", {})).text();
  assert.deepEqual(recorded(directory), ["a", "large", "msg_1"]);
});

/** What a person or a tool may do to the files of a running daemon, after two records; and what must be there after two more. */
const MOVES: [what: string, move: (file: string, directory: string) => void, left: string[]][] = [
  ["deleted", (file) => rmSync(file), ["c", "d"]],
  ["replaced by an empty one", (file) => replace(file, ""), ["c", "d"]],
  ["replaced by a copy of itself", (file) => replace(file, readFileSync(file, "utf8")), ["a", "b", "c", "d"]],
  ["emptied", (file) => writeFileSync(file, ""), ["c", "d"]],
  ["deleted with its directory", (_file, directory) => rmSync(directory, { recursive: true }), ["c", "d"]],
  ["deleted with an empty directory left", (_file, directory) => emptied(directory), ["c", "d"]],
];

function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

function emptied(directory: string): void {
  rmSync(directory, { recursive: true });
  mkdirSync(directory, { mode: 0o700 });
}

for (const [what, move, left] of MOVES) {
  test(`a file that is ${what} while it is written costs no later record, from the very next one on`, async (t) => {
    const { gate, ledger, directory } = await startLedgerGate(t, (await startLettered(t)).baseUrl);
    await request(gate, 2);
    move(join(directory, `${TODAY}.ndjson`), directory);
    await request(gate, 2);
    assert.deepEqual(recorded(directory), left);
    assert.equal(ledger.health().waiting, 0);
  });
}

test("what the full queue cannot take is counted as lost, once, and what it has is written in the end", async (t) => {
  const scratch = scratchDirectory(t);
  const directory = join(scratch, "ledger");
  const usage = { ...MESSAGE.usage, notes: BULK };
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, { ...MESSAGE, usage }));
  const { gate, ledger, clock } = await startLedgerGate(t, upstream.baseUrl, { directory });
  rmSync(directory, { recursive: true });
  writeFileSync(directory, "");
  await Promise.all(Array.from({ length: 15 }, () => request(gate, 20)));
  const { waiting, lost } = ledger.health();
  assert.equal(waiting + lost, 300);
  assert.ok(lost > 0 && waiting * 60_000 < 16 * 1024 * 1024);
  rmSync(directory);
  clock.advance(1000);
  await request(gate);
  assert.equal(recorded(directory).length, waiting + 1);
  assert.deepEqual(ledger.health().lost, lost);
});

test(
  "a daemon on a full disk serves, says so in `status`, and writes what waits without another request",
  LIMIT,
  async (t) => {
    const disk = mountDisk(t, 16 * PAGE_BYTES);
    if (disk === null) return;
    const { config } = keyInFile(t, (await startLettered(t)).baseUrl, "some-key");
    const directory = join(disk, "ledger");
    const daemon = await startDaemon(t, { config: { ...config, ledger: { directory } } });
    fill(join(disk, "ballast"));
    await request(daemon, 3);
    const sick = await daemon.command("status");
    assert.equal(sick.code, 1);
    assert.match(sick.stdout, /^ledger .*, 0 written, 3 waiting, 0 lost: (ENOSPC|the disk took)/m);
    assert.match(sick.stdout, /^last error +the ledger cannot be written/m);
    rmSync(join(disk, "ballast"));
    await daemon.until(/"msg":"the ledger is written again"/);
    assert.deepEqual(recorded(directory), ["a", "b", "c"]);
    assert.equal((await daemon.status()).ledger.waiting, 0);
    assert.equal(await daemon.stop(), 0);
  },
);

/** For `startDaemon`, a launcher whose standard error goes to the end of a file, as launchd's StandardErrorPath does. */
const loggingTo = (file: string) => ["/bin/sh", "-c", `exec "$@" 2>> '${file}'`, "sh"];

const noFullDevice = existsSync("/dev/full") ? false : "needs Linux's /dev/full";

test(
  "a daemon whose log cannot be written from its first line on starts, serves and stops",
  { skip: noFullDevice, ...LIMIT },
  async (t) => {
    const daemon = await startDaemon(t, { launcher: loggingTo("/dev/full") });
    assert.equal((await fetch(`${daemon.url}/v1/models`)).status, 200);
    assert.equal((await daemon.ledger()).length, 1);
    assert.equal(await daemon.stop(), 0);
  },
);

test(
  "a disk that fills up under the log costs lines of it and nothing else; how many is said when it has room again",
  LIMIT,
  async (t) => {
    const disk = mountDisk(t, 16 * PAGE_BYTES);
    if (disk === null) return;
    const { path, config } = keyInFile(t, "http://127.0.0.1:9/v1", "");
    const log = join(disk, "log");
    const daemon = await startDaemon(t, { config, launcher: loggingTo(log) });
    // Each of these requests is worth a line: the key is not there.
    const ask = async (count: number) => {
      for (let i = 0; i < count; i += 1) {
        assert.equal((await post(daemon, "/v1/messages", {})).status, 503);
      }
    };
    fill(join(disk, "ballast"));
    await ask(60);
    assert.equal((await daemon.ledger()).length, 60);
    rmSync(join(disk, "ballast"));
    await ask(2);
    assert.equal(await daemon.stop(), 0);
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as { msg: string; dropped?: number });
    const said = entries.filter(({ msg }) => msg.includes(path));
    const [resumed, ...more] = entries.flatMap(({ dropped }) => dropped ?? []);
    assert.ok(resumed !== undefined && resumed > 0 && more.length === 0);
    assert.equal(said.length + resumed, 62);
  },
);
