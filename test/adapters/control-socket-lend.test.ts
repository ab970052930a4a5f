import assert from "node:assert/strict";
import { connect } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { borrowToken, openControlSocket, type ControlHandlers } from "../../src/adapters/control-socket.ts";
import { Failure } from "../../src/core/failure.ts";
import { startBorrower } from "../helpers/borrower.ts";
import { controlHandlers } from "../helpers/control-handlers.ts";
import { scratchDirectory } from "../helpers/keyring.ts";
import { MemoryLog } from "../helpers/memory.ts";
import { withResolvers } from "../helpers/with-resolvers.ts";

async function open(t: TestContext, lend: ControlHandlers["lend"]) {
  const path = join(scratchDirectory(t), "control.sock");
  const log = new MemoryLog();
  const socket = await openControlSocket(path, controlHandlers({ lend }), log);
  t.after(() => socket.close());
  return { path, log, socket };
}

/** A lender of one token, and word of its return. */
function lendOnce() {
  const { promise: returned, resolve } = withResolvers<string>();
  const lend: ControlHandlers["lend"] = (tool) => ({
    token: `token-of-${tool}`,
    giveBack: () => resolve(tool),
  });
  return { lend, returned };
}

test("a borrowed token is the one that was lent to that tool, and returns when it is given back", async (t) => {
  const { lend, returned } = lendOnce();
  const { path } = await open(t, lend);
  const loan = (await borrowToken(path, "a&tool=b c")) ?? assert.fail("nobody lends");
  assert.equal(loan.token, "token-of-a&tool=b c");
  loan.giveBack();
  assert.equal(await returned, "a&tool=b c");
});

test("a borrower that is killed returns what it had", { timeout: 30_000 }, async (t) => {
  const { lend, returned } = lendOnce();
  const { path } = await open(t, lend);
  const { token, kill } = await startBorrower(t, path, "codex");
  assert.equal(token, "token-of-codex");
  kill();
  assert.equal(await returned, "codex");
});

test(
  "the end of the daemon is the end of the loan, and no fault of the borrower's",
  { timeout: 10_000 },
  async (t) => {
    const { lend, returned } = lendOnce();
    const { path, socket } = await open(t, lend);
    const loan = (await borrowToken(path, "codex")) ?? assert.fail("nobody lends");
    await socket.close();
    await returned;
    loan.giveBack();
    assert.equal(await borrowToken(path, "codex"), null);
  },
);

test("a lender that refuses is a Failure in its own words, and none for the log", async (t) => {
  const { path, log } = await open(t, () => {
    throw new Failure("nothing left", "come back later");
  });
  await assert.rejects(borrowToken(path, "codex"), { message: "nothing left", hint: "come back later" });
  assert.deepEqual(log.lines, []);
});

test("nobody to borrow from is null", async (t) => {
  assert.equal(await borrowToken(join(scratchDirectory(t), "control.sock"), "codex"), null);
});

test("a borrower that asks without a tool's name names none", async (t) => {
  const asked = withResolvers<string>();
  const { path } = await open(t, (tool) => {
    asked.resolve(tool);
    return { token: "", giveBack: () => {} };
  });
  const client = connect(path);
  t.after(() => client.destroy());
  client.write("POST /lend HTTP/1.1\r\nHost: x\r\n\r\n");
  assert.equal(await asked.promise, "");
});
