import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { listenAt } from "../../../src/adapters/unix-socket/listen.ts";
import { MemoryLog } from "../../helpers/gate/memory.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const taken = () => assert.fail("nothing listens there");

test("an attempt that fails leaves no listener behind: a socket that was removed is tried again every few seconds", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  mkdirSync(path);
  const server = createServer();
  const place = { path, name: "the control socket", async prepareDirectory() {}, taken };
  await assert.rejects(listenAt(server, place, new MemoryLog()), /cannot open the control socket/);
  assert.deepEqual(
    server.eventNames().filter((name) => server.listenerCount(name) > 0),
    [],
  );
});
