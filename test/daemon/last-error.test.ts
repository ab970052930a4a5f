import assert from "node:assert/strict";
import { test } from "node:test";
import { trackLastError } from "../../src/daemon/last-error.ts";
import type { LogSubject } from "../../src/ports.ts";
import { ManualClock, MemoryLog } from "../helpers/gate/memory.ts";

const inOrder =
  (...subjects: LogSubject[]) =>
  (subject: LogSubject) =>
    subjects.includes(subject);

test("the newest warning or error counts until what it is about is in order", () => {
  const [clock, lines] = [new ManualClock(), new MemoryLog()];
  const { log, lastError } = trackLastError(lines, clock);
  assert.equal(lastError(inOrder()), null);
  log.warn({}, "an event");
  clock.advance(1_000);
  log.error({ about: "keys", key: "default" }, "no key");
  log.info({}, "something else");
  const found = lastError(inOrder("configuration"));
  assert.deepEqual(found, { at: new Date(clock.now()).toISOString(), message: "no key" });
  assert.equal(lastError(inOrder("keys")), null);
});

test("an event that nothing undoes stays, and the subject of a message is not written", () => {
  const lines = new MemoryLog();
  const { log, lastError } = trackLastError(lines, new ManualClock());
  log.error({ about: "tokens", hint: "chmod 600 it" }, "no tokens");
  log.warn({ uid: 7 }, "refused a connection");
  assert.equal(
    lastError(inOrder("keys", "tokens", "configuration", "ledger"))?.message,
    "refused a connection",
  );
  assert.deepEqual(lines.lines, [
    'error no tokens {"hint":"chmod 600 it"}',
    'warn refused a connection {"uid":7}',
  ]);
});
