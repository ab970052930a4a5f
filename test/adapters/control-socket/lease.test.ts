import assert from "node:assert/strict";
import { connect } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { leaseToken, openControlSocket, type ControlHandlers } from "../../../src/adapters/control-socket.ts";
import { Failure } from "../../../src/core/failure.ts";
import { startLeaseHolder } from "../../helpers/process/lease-holder.ts";
import { controlHandlers } from "../../helpers/daemon/control-handlers.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { MemoryLog } from "../../helpers/gate/memory.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";

async function open(t: TestContext, lease: ControlHandlers["lease"]) {
  const path = join(scratchDirectory(t), "control.sock");
  const log = new MemoryLog();
  const socket = await openControlSocket(path, controlHandlers({ lease }), log);
  t.after(() => socket.close());
  return { path, log, socket };
}

/** A handler for one lease. `released` resolves to the tool and the hash when it is released. */
function leaseOnce() {
  const { promise: released, resolve } = withResolvers<string>();
  const handler: ControlHandlers["lease"] = (tool, hash) => () => resolve(`${tool} ${hash}`);
  return { handler, released };
}

test("leases a token for the given tool and hash until the client releases it", async (t) => {
  const { handler, released } = leaseOnce();
  const { path } = await open(t, handler);
  const lease = (await leaseToken(path, "a&hash=b c", "0&1")) ?? assert.fail("no daemon listens");
  lease.release();
  await lease.ended;
  assert.equal(await released, "a&hash=b c 0&1");
});

test("releases the lease when the client is killed", { timeout: 300_000 }, async (t) => {
  const { handler, released } = leaseOnce();
  const { path } = await open(t, handler);
  const { kill } = await startLeaseHolder(t, path, { tool: "codex", hash: "01" });
  kill();
  assert.equal(await released, "codex 01");
});

test(
  "ends the lease without an error at the client when the daemon stops",
  { timeout: 300_000 },
  async (t) => {
    const { handler, released } = leaseOnce();
    const { path, socket } = await open(t, handler);
    const lease = (await leaseToken(path, "codex", "01")) ?? assert.fail("no daemon listens");
    await socket.close();
    await released;
    await lease.ended;
    lease.release();
    assert.equal(await leaseToken(path, "codex", "01"), null);
  },
);

test("throws the handler's Failure at the client and logs nothing", async (t) => {
  const { path, log } = await open(t, () => {
    throw new Failure("nothing left", "come back later");
  });
  await assert.rejects(leaseToken(path, "codex", "01"), {
    message: "nothing left",
    hint: "come back later",
  });
  assert.deepEqual(log.lines, []);
});

test("leasing a token resolves to null when no daemon listens", async (t) => {
  assert.equal(await leaseToken(join(scratchDirectory(t), "control.sock"), "codex", "01"), null);
});

test("passes empty strings to the handler when a request has neither tool nor hash", async (t) => {
  const received = withResolvers<string[]>();
  const { path } = await open(t, (...names) => {
    received.resolve(names);
    return () => {};
  });
  const client = connect(path);
  t.after(() => client.destroy());
  client.write("POST /lease HTTP/1.1\r\nHost: x\r\n\r\n");
  assert.deepEqual(await received.promise, ["", ""]);
});
