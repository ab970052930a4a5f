import assert from "node:assert/strict";
import { once } from "node:events";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { createServer, type AddressInfo, type Server } from "node:net";
import { test, type TestContext } from "node:test";
import { defaultConfig, type Config } from "../../src/core/config/config.ts";
import { Failure } from "../../src/core/failure.ts";
import { Listeners } from "../../src/daemon/listeners.ts";
import { holdTime } from "../helpers/async/hold-time.ts";
import { MemoryLog } from "../helpers/gate/memory.ts";

/** A configuration that differs from the default in its port. */
const atPort = (port: number): Config => ({
  ...defaultConfig,
  listen: { ...defaultConfig.listen, port },
});

const HANDLER = { accept() {}, release() {}, refuseInvalid() {}, handle: () => Promise.resolve() };

async function occupy(t: TestContext): Promise<{ server: Server; port: number }> {
  const server = createServer().listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

/** Returns a function that counts the searches through all processes. */
function countSearches(t: TestContext): () => number {
  const mocked = t.mock.method(fs, "readdirSync");
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  return () => mocked.mock.calls.filter(({ arguments: [path] }) => path === "/proc").length;
}

test(
  "the holder of a taken port is looked for once a minute, however often the port is tried, and a freed port is had at once",
  { skip: process.platform !== "linux" && "counts how often Linux's /proc is searched" },
  async (t) => {
    const { server, port } = await occupy(t);
    const listeners = await Listeners.open(HANDLER, atPort(0), new MemoryLog());
    t.after(() => listeners.destroy());
    const [pass, searches] = [holdTime(t), countSearches(t)];
    const assertTaken = (taken: number, holder: number) =>
      assert.rejects(listeners.prepare(atPort(taken)), (error) => {
        assert.ok(error instanceof Failure);
        assert.match(error.message, new RegExp(`^port ${taken} is taken by pid ${holder} `));
        assert.match(error.hint ?? "", new RegExp(`^stop it with: kill ${holder}; or set another `));
        return true;
      });
    for (let i = 0; i < 5; i += 1) await assertTaken(port, process.pid);
    assert.equal(searches(), 1);
    await assertTaken((await occupy(t)).port, process.pid);
    assert.equal(searches(), 2);
    await assertTaken(port, process.pid);
    pass(60_000);
    await assertTaken(port, process.pid);
    assert.equal(searches(), 4);
    server.close();
    await once(server, "close");
    const move = await listeners.prepare(atPort(port));
    move?.begin();
    assert.equal(listeners.port, port);
  },
);
