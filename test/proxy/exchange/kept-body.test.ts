import assert from "node:assert/strict";
import { test } from "node:test";
import { KeptBody } from "../../../src/proxy/exchange/kept-body.ts";
import { SharedBuffer } from "../../../src/proxy/exchange/shared-buffer.ts";

const LIMIT = 8 * 1024 * 1024;

test("a body is kept in pieces, counted, and freed", async () => {
  const buffer = new SharedBuffer(LIMIT);
  const body = new KeptBody(buffer);
  body.keep(Buffer.from("one "));
  body.keep(Buffer.from("two"));
  assert.equal(body.content, null, "more may follow");
  body.complete();
  assert.equal(await body.arrived(), true);
  assert.equal(String(body.content), "one two");
  assert.equal(body.content, body.content, "joined once");
  assert.ok(buffer.usedBytes >= 7);
  body.drop();
  assert.deepEqual([body.content, buffer.usedBytes, await body.arrived()], [null, 0, false]);
});

test("a body longer than an eighth of what is free is given up", async () => {
  const buffer = new SharedBuffer(LIMIT);
  const body = new KeptBody(buffer);
  const arrived = body.arrived();
  body.keep(Buffer.alloc(LIMIT / 8));
  body.complete();
  assert.deepEqual([body.isKept, buffer.usedBytes, await arrived], [false, 0, false]);
});

test("many small pieces count as what they cost", () => {
  const buffer = new SharedBuffer(LIMIT);
  const body = new KeptBody(buffer);
  let pieces = 0;
  for (; body.isKept && pieces < LIMIT; pieces += 1) body.keep(Buffer.alloc(1));
  // A buffer of one byte costs 0.65 KB.
  assert.ok(pieces * 650 < LIMIT / 8, `${pieces} pieces were kept`);
});
