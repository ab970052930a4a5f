import assert from "node:assert/strict";
import { connect } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { leaseToken, openControlSocket, type ControlHandlers } from "../../../src/adapters/control-socket.ts";
import { Failure } from "../../../src/core/failure.ts";
import { startBorrower } from "../../helpers/process/lease-holder.ts";
import { controlHandlers } from "../../helpers/daemon/control-handlers.ts";
import { scratchDirectory } from "../../helpers/keychain/keychain-session.ts";
import { MemoryLog } from "../../helpers/gate/memory.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";

async function open(t: TestContext, lend: ControlHandlers["lend"]) {
  const path = join(scratchDirectory(t), "control.sock");
  const log = new MemoryLog();
  const socket = await openControlSocket(path, controlHandlers({ lend }), log);
  t.after(() => socket.close());
  return { path, log, socket };
}

/** A lender that remembers what it lent, and word of its return. */
function lendOnce() {
  const { promise: returned, resolve } = withResolvers<string>();
  const lend: ControlHandlers["lend"] = (tool, hash) => () => resolve(`${tool} ${hash}`);
  return { lend, returned };
}

test("a token is lent to that tool, by that hash, and returns when it is given back", async (t) => {
  const { lend, returned } = lendOnce();
  const { path } = await open(t, lend);
  const loan = (await leaseToken(path, "a&hash=b c", "0&1")) ?? assert.fail("nobody lends");
  loan.giveBack();
  await loan.ended;
  assert.equal(await returned, "a&hash=b c 0&1");
});

test("a borrower that is killed returns what it had", { timeout: 30_000 }, async (t) => {
  const { lend, returned } = lendOnce();
  const { path } = await open(t, lend);
  const { kill } = await startBorrower(t, path, { tool: "codex", hash: "01" });
  kill();
  assert.equal(await returned, "codex 01");
});

test(
  "the end of the daemon is the end of the loan, which the borrower hears of, and no fault of its",
  { timeout: 10_000 },
  async (t) => {
    const { lend, returned } = lendOnce();
    const { path, socket } = await open(t, lend);
    const loan = (await leaseToken(path, "codex", "01")) ?? assert.fail("nobody lends");
    await socket.close();
    await returned;
    await loan.ended;
    loan.giveBack();
    assert.equal(await leaseToken(path, "codex", "01"), null);
  },
);

test("a lender that refuses is a Failure in its own words, and none for the log", async (t) => {
  const { path, log } = await open(t, () => {
    throw new Failure("nothing left", "come back later");
  });
  await assert.rejects(leaseToken(path, "codex", "01"), {
    message: "nothing left",
    hint: "come back later",
  });
  assert.deepEqual(log.lines, []);
});

test("nobody to borrow from is null", async (t) => {
  assert.equal(await leaseToken(join(scratchDirectory(t), "control.sock"), "codex", "01"), null);
});

test("a borrower that asks without a tool's name and a hash names none", async (t) => {
  const asked = withResolvers<string[]>();
  const { path } = await open(t, (...names) => {
    asked.resolve(names);
    return () => {};
  });
  const client = connect(path);
  t.after(() => client.destroy());
  client.write("POST /lend HTTP/1.1\r\nHost: x\r\n\r\n");
  assert.deepEqual(await asked.promise, ["", ""]);
});
