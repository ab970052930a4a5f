import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { SendQueue } from "../../../src/proxy/exchange/send-queue.ts";
import { SharedBuffer } from "../../../src/proxy/exchange/shared-buffer.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** A destination whose reader takes one write at a time, when the test says so. */
class Destination extends EventEmitter {
  readonly written: string[] = [];
  readonly #untaken: { bytes: number; onTaken: () => void }[] = [];

  get writableLength(): number {
    return this.#untaken.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  write(chunk: Buffer, onTaken: () => void): void {
    this.written.push(chunk.toString("latin1"));
    this.#untaken.push({ bytes: chunk.length, onTaken });
  }

  take(): void {
    this.#untaken.shift()?.onTaken();
  }
}

function setUp(limitBytes = 256 * MIB) {
  const [destination, buffer] = [new Destination(), new SharedBuffer(limitBytes)];
  let progress = 0;
  const queue = new SendQueue(destination, buffer, () => (progress += 1));
  return { destination, buffer, queue, progress: () => progress };
}

const chunk = (bytes: number, letter = "x") => Buffer.alloc(bytes, letter);

test("a chunk is written at once when nothing waits before it", () => {
  const { destination, queue } = setUp();
  queue.write(chunk(3, "a"));
  destination.take();
  queue.write(chunk(3, "b"));
  assert.deepEqual(destination.written, ["aaa", "bbb"]);
});

test("chunks that come while an earlier one waits are written in order, joined, when it has been taken", () => {
  const { destination, queue, progress } = setUp();
  for (const letter of "abcd") queue.write(chunk(2, letter));
  assert.deepEqual([destination.written, queue.isFlushed, progress()], [["aa"], false, 0]);
  destination.take();
  assert.deepEqual([destination.written, queue.isFlushed, progress()], [["aa", "bbccdd"], true, 1]);
});

test("no more than about 64 KiB are joined, so that the progress of a slow reader is seen", () => {
  const { destination, queue } = setUp();
  for (let i = 0; i < 10; i += 1) queue.write(chunk(30 * KIB));
  destination.take();
  assert.equal(destination.written[1]?.length, 90 * KIB);
});

test("what waits is counted until it has been taken", () => {
  const { destination, buffer, queue } = setUp();
  queue.write(chunk(1000));
  queue.write(chunk(1000));
  assert.ok(buffer.usedBytes >= 2000);
  destination.take();
  assert.equal(buffer.usedBytes, 1000);
  destination.take();
  assert.equal(buffer.usedBytes, 0);
});

test("small chunks are counted with what they cost besides their bytes", () => {
  const { buffer, queue } = setUp();
  let count = 0;
  for (; queue.hasRoom; count += 1) queue.write(chunk(1));
  assert.ok(count < 1100, `${count} chunks of one byte`);
  assert.ok(buffer.usedBytes <= MIB + 2 * KIB);
});

test("a queue that is full has room again when its reader has taken enough", () => {
  const { destination, queue, progress } = setUp();
  while (queue.hasRoom) queue.write(chunk(100 * KIB));
  destination.take();
  assert.deepEqual([queue.hasRoom, progress()], [true, 1]);
});

test("with nothing free, a queue has room whenever it is empty", () => {
  const { destination, queue } = setUp(0);
  queue.write(chunk(1));
  assert.equal(queue.hasRoom, false);
  destination.take();
  assert.equal(queue.hasRoom, true);
});

test("what the caller holds back is counted, too", () => {
  const { destination, buffer, queue } = setUp();
  queue.hold(100 * KIB);
  assert.deepEqual([buffer.usedBytes, queue.hasRoom], [100 * KIB, true]);
  queue.hold(2 * MIB);
  assert.equal(queue.hasRoom, false);
  destination.emit("close");
  assert.equal(buffer.usedBytes, 0);
});

test("flushing writes everything that waits, in order", () => {
  const { destination, buffer, queue } = setUp();
  for (const letter of "abc") queue.write(chunk(1, letter));
  queue.flush();
  assert.deepEqual([destination.written, queue.isFlushed], [["a", "bc"], true]);
  queue.count();
  assert.equal(buffer.usedBytes, 3);
  destination.take();
  destination.take();
  assert.equal(buffer.usedBytes, 0);
});

for (const [how, end] of [
  ["its destination closes", ({ destination }) => destination.emit("close")],
  ["it is closed", ({ queue }) => queue.close()],
  [
    "its destination closes after it was closed",
    ({ queue, destination }) => {
      queue.close();
      destination.emit("close");
    },
  ],
] as [string, (one: ReturnType<typeof setUp>) => unknown][]) {
  test(`when ${how}, a queue gives back what it holds, once, and writes nothing more`, () => {
    const one = setUp();
    for (let i = 0; i < 3; i += 1) one.queue.write(chunk(10));
    end(one);
    one.queue.write(chunk(10));
    one.destination.take();
    one.queue.count();
    assert.deepEqual([one.buffer.usedBytes, one.destination.written.length, one.progress()], [0, 1, 0]);
    assert.equal(one.queue.hasRoom, true);
  });
}
