import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { CaptureFile } from "../../../src/adapters/capture/capture-file.ts";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { DaemonCaptures } from "../../../src/daemon/capture/captures.ts";
import type { Tap, TappedRequest } from "../../../src/ports.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { MemoryLog, ManualClock } from "../../helpers/gate/memory.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const HOUR = 3_600_000;

const textOf = (base64: string) => Buffer.from(base64, "base64").toString();

function start(t: TestContext) {
  const clock = new ManualClock();
  const notices: string[] = [];
  const captures = new DaemonCaptures({
    directory: scratchDirectory(t),
    clock,
    log: new MemoryLog(),
    secrets: () => [],
    announce: (notice) => notices.push(notice),
    config: () => ({ capture: true }),
    managed: () => null,
  });
  t.after(() => captures.close());
  let count = 0;
  const request = (changes: Partial<TappedRequest> = {}, before: Tap | null = null): Tap | null => {
    const headers = new HeaderIndex(["content-type", "application/json"]);
    const facts = {
      tool: "codex",
      isProvisional: false,
      isOfOwner: true,
      method: "POST",
      origin: "http://127.0.0.1:9",
      path: "/v1/responses",
    };
    return captures.open({ ...facts, headers, ...changes }, before);
  };
  /** Ends it, and returns the id of its record. */
  const end = (tap: Tap | null, tool = "codex"): string => {
    count += 1;
    const id = `${count}`.padStart(8, "0");
    tap?.end(usageRecord({ id, tool, ts: new Date(clock.now()).toISOString() }));
    return id;
  };
  const kept = (most: number) =>
    waitUntil(`${most} requests`, () => (captures.list().length === most ? captures.list() : null));
  const read = async (id: string) => {
    const found = await captures.read(id);
    return found === null ? null : [textOf(found.request), textOf(found.response), found.head.response.lack];
  };
  return { captures, clock, notices, request, end, kept, read };
}

const WISH = { tool: "codex", forMs: HOUR, keepMs: HOUR, most: null };

test("another tool's and another user's requests are not taken; a tool that is not known yet is, until it is", async (t) => {
  const { captures, request, end, kept } = start(t);
  assert.equal(captures.isOn, false);
  await captures.start(WISH);
  assert.equal(captures.isOn, true);
  assert.equal(request({ tool: "aider" }), null);
  assert.equal(request({ isOfOwner: false }), null);
  end(request({ tool: "unknown", isProvisional: true }), "aider");
  const id = end(request({ tool: "unknown", isProvisional: true }), "codex");
  assert.deepEqual(
    (await kept(1)).map((one) => one.id),
    [id],
  );
});

test("a response that is compressed is kept as it reads, and of one that is damaged what can be read", async (t) => {
  const { captures, request, end, read } = start(t);
  await captures.start(WISH);
  const text = '{"output":"'.padEnd(100_000, "xyz ");
  const whole = gzipSync(text);
  const lacks = [];
  for (const body of [whole, whole.subarray(0, 100), Buffer.from("no gzip")]) {
    const tap = request();
    tap?.sawRequestBytes(Buffer.from("{}"));
    tap?.sawResponse(["content-encoding", "gzip"]);
    tap?.sawResponseBytes(body);
    const id = end(tap);
    const found = await waitUntil("the request", () => read(id));
    assert.ok(text.startsWith(found[1] ?? ""));
    lacks.push([found[0], found[1] === text, found[2]]);
  }
  assert.deepEqual(lacks, [
    ["{}", true, null],
    ["{}", false, null],
    ["{}", false, "it cannot be decoded to its end"],
  ]);
});

test("another attempt has the body of the first", async (t) => {
  const { captures, request, end, kept, read } = start(t);
  await captures.start(WISH);
  const first = request();
  first?.sawRequestBytes(Buffer.from("{}"));
  const one = end(first);
  const other = end(request({}, first));
  await kept(2);
  assert.deepEqual(
    [await read(one), await read(other)],
    [
      ["{}", "", null],
      ["{}", "", null],
    ],
  );
});

test("it ends and is deleted by the clock, also after a sleep, and when the clock was set back", async (t) => {
  const { captures, clock, notices, request, end, kept, read } = start(t);
  t.mock.timers.enable({ apis: ["setInterval"] });
  const look = async () => {
    t.mock.timers.tick(1_000);
    await setImmediate();
  };
  await captures.start(WISH);
  const late = request();
  const id = end(request());
  await kept(1);
  clock.advance(HOUR);
  await look();
  assert.equal(captures.isOn, false);
  assert.equal(notices.at(-1), "the capture of codex has ended with 1 request");
  assert.equal(request(), null);
  assert.ok((await read(id)) !== null && late !== null);
  // Only the one clock goes on while the computer sleeps.
  clock.wallMs += HOUR;
  await look();
  assert.deepEqual([captures.describe(), captures.list(), await read(id)], [[], [], null]);
  await captures.start(WISH);
  clock.wallMs -= 24 * HOUR;
  clock.advance(2 * HOUR - 1);
  await look();
  assert.equal(captures.describe().length, 1);
  clock.advance(1);
  await look();
  assert.equal(captures.describe().length, 0);
});

test("a full disk, and 200 MB, end a capture and nothing else", async (t) => {
  const { captures, notices, request, end, kept, read } = start(t);
  await captures.start(WISH);
  const first = end(request());
  await kept(1);
  const append = t.mock.method(CaptureFile.prototype, "append", () =>
    Promise.reject(Object.assign(new Error("no space left on device"), { code: "ENOSPC" })),
  );
  end(request());
  await waitUntil("the end", () => (captures.isOn ? null : true));
  append.mock.restore();
  assert.equal(notices.at(-1), "the capture of codex has ended with 1 request: the disk is full");
  assert.ok((await read(first)) !== null);
  await captures.start(WISH);
  t.mock.getter(CaptureFile.prototype, "bytes", () => 100_000_000);
  end(request());
  await waitUntil("the end", () => (captures.isOn ? null : true));
  assert.equal(
    notices.at(-1),
    "the capture of codex has ended with 0 requests: captures have all of their 200 MB",
  );
});

test("what is too much to be held is missing, and is said to be", async (t) => {
  const { captures, request, end, kept, read } = start(t);
  await captures.start(WISH);
  const tap = request();
  for (let part = 0; part < 65; part += 1) tap?.sawResponseBytes(Buffer.alloc(1024 * 1024, " "));
  const others = request();
  others?.sawRequestBytes(Buffer.alloc(1024 * 1024));
  const id = end(others);
  await kept(1);
  assert.deepEqual(await read(id), ["", "", null]);
  assert.equal((await captures.read(id))?.head.request.lack, "too much was under way at the same time");
});

test("a tool is captured once at a time, and times are limited", async (t) => {
  const { captures } = start(t);
  await captures.start(WISH);
  await assert.rejects(captures.start(WISH), /a capture of codex is running already/);
  assert.equal(captures.stop("aider"), null);
  assert.equal(captures.stop("codex")?.state, "ended");
  for (const forMs of [0, Number.NaN, 25 * HOUR])
    await assert.rejects(captures.start({ ...WISH, forMs }), /for up to 24 hours/);
  for (let more = 0; more < 15; more += 1) await captures.start({ ...WISH, tool: `tool-${more}` });
  await assert.rejects(captures.start(WISH), /there are 16 captures already/);
  assert.equal(await captures.delete("1"), 1);
  assert.equal(await captures.delete("1"), 0);
  await captures.start(WISH);
  assert.equal(await captures.delete(null), 16);
});
