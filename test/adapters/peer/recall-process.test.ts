import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, { mkdirSync, realpathSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import timers from "node:timers/promises";
import { createPeerInfo } from "../../../src/adapters/peer.ts";
import type { PeerInfo, PeerOwner } from "../../../src/ports.ts";
import { PROCESS_SIGNATURES } from "../../../src/tools/all.ts";
import {
  CONNECTING_CLIENT,
  connectToSelf,
  findProcess,
  startClient,
  startServer,
  type ConnectionEnds,
} from "../../helpers/process/peer-connection.ts";
import { waitForExit } from "../../helpers/process/processes.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const notLinux = process.platform !== "linux" && "needs Linux: elsewhere there is no /proc";

/** Replaces a function of a built-in module until the test ends. */
function replace(t: TestContext, module: object, name: string, by: (path: string) => unknown): void {
  const mocked = t.mock.method(module as Record<string, typeof by>, name, by);
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
}

/** Keeps searches from running in the background: they wait for a turn of the event loop that never comes. */
function holdSearches(t: TestContext): void {
  const { setImmediate } = timers;
  let held = 0;
  replace(t, timers, "setImmediate", () => {
    // By the name of the method: tests are compiled, and then the file has another one.
    if (new Error().stack?.includes("#search ") !== true) return setImmediate();
    held += 1;
    return new Promise(() => {});
  });
  t.after(() => assert.ok(held > 0, "no search was held"));
}

/** Makes these the only processes that a search sees. */
function showOnly(t: TestContext, pids: readonly number[]): void {
  const { readdirSync } = fs;
  replace(t, fs, "readdirSync", (path: string) => (path === "/proc" ? pids.map(String) : readdirSync(path)));
}

/** Returns a list that collects the files of processes that are looked at. */
function watchFiles(t: TestContext): string[] {
  const { readlinkSync } = fs;
  const seen: string[] = [];
  replace(t, fs, "readlinkSync", (path: string) => {
    if (/^\/proc\/\d+\/fd\//.test(path)) seen.push(path);
    return readlinkSync(path);
  });
  return seen;
}

/** Starts to look for the process of a connection that stays open. */
async function startSearch(peers: PeerInfo, ends: ConnectionEnds): Promise<PeerOwner> {
  const owner = await peers.lookUp(...ends);
  void owner.findProcess({ isOver: () => false });
  return owner;
}

const createPeers = () => createPeerInfo(PROCESS_SIGNATURES);

/** A client that has this many files open before it connects. */
function clientWithFiles(count: number): string[] {
  const files = `for (let i = 0; i < ${count}; i += 1) require("node:fs").openSync("/dev/null");`;
  return [process.execPath, "-e", files + CONNECTING_CLIENT];
}

test(
  "a known process is recalled for a new connection before any search has run, each of several at a time",
  { skip: notLinux },
  async (t) => {
    const server = await startServer(t);
    const peers = createPeers();
    const clients = [
      await startClient(t, server),
      await startClient(t, server),
      await startClient(t, server),
    ];
    const found = [];
    for (const { ends } of clients) found.push(await findProcess(peers, ends));
    holdSearches(t);
    for (const [i, client] of clients.entries()) {
      for (let connections = 0; connections < 10; connections += 1) {
        const owner = await startSearch(peers, await client.again());
        assert.equal(owner.recallProcess(), found[i]);
      }
    }
  },
);

test(
  "a process that has become known since the search for it began is recalled, and compared once",
  { skip: notLinux },
  async (t) => {
    const client = await startClient(t, await startServer(t));
    const peers = createPeers();
    const { ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
    holdSearches(t);
    showOnly(t, [client.pid]);
    const [first, second, other] = [
      await startSearch(peers, client.ends),
      await startSearch(peers, await client.again()),
      await startSearch(peers, ends),
    ];
    assert.equal(first.recallProcess()?.record.pid, client.pid);
    assert.equal(second.recallProcess(), first.recallProcess());
    assert.equal(other.recallProcess(), null);
    const looked = watchFiles(t);
    assert.equal(other.recallProcess(), null);
    assert.deepEqual(looked, []);
  },
);

test("a known process that has ended is not recalled", { skip: notLinux }, async (t) => {
  const client = await startClient(t, await startServer(t));
  const peers = createPeers();
  await findProcess(peers, client.ends);
  holdSearches(t);
  const owner = await startSearch(peers, await client.again());
  client.child.kill("SIGKILL");
  await waitForExit(client.pid);
  assert.equal(owner.recallProcess(), null);
});

test("nothing is recalled for a connection that has ended", { skip: notLinux }, async (t) => {
  const client = await startClient(t, await startServer(t));
  const peers = createPeers();
  await findProcess(peers, client.ends);
  holdSearches(t);
  const owner = await peers.lookUp(...(await client.again()));
  assert.equal(owner.recallProcess(), null, "nobody has asked for it");
  void owner.findProcess({ isOver: () => true });
  assert.equal(owner.recallProcess(), null);
});

test(
  "a socket that a known child has inherited belongs to the parent that opened it",
  { skip: notLinux },
  async (t) => {
    const server = await startServer(t);
    const peers = createPeers();
    const { client: socket, ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
    const inherited = await peers.lookUp(...ends);
    holdSearches(t);
    void inherited.findProcess({ isOver: () => false });
    const child = await startClient(t, server, undefined, { stdio: ["pipe", "ignore", "inherit", socket] });
    showOnly(t, [child.pid]);
    const own = await startSearch(peers, child.ends);
    assert.equal(own.recallProcess()?.record.pid, child.pid);
    assert.equal(inherited.recallProcess()?.record.pid, process.pid);
  },
);

test(
  "a process that was never seen is recalled when it is among the newest, and its name follows",
  { skip: notLinux },
  async (t) => {
    const client = await startClient(t, await startServer(t));
    const peers = createPeers();
    const owner = await peers.lookUp(...client.ends);
    holdSearches(t);
    const named = owner.findProcess({ isOver: () => false });
    const newer = [];
    for (let i = 0; i < 3; i += 1) {
      const child = spawn("sleep", ["60"], { stdio: "ignore" });
      t.after(() => child.kill("SIGKILL"));
      await once(child, "spawn");
      newer.push(child.pid ?? 0);
    }
    showOnly(t, [client.pid, ...newer]);
    const recalled = owner.recallProcess();
    assert.equal(recalled?.record.pid, client.pid);
    assert.equal(await named, recalled);
  },
);

test(
  "a process that gave itself a tool's name as its title has that name as soon as it is recalled",
  { skip: notLinux },
  async (t) => {
    const script = `process.title = "pi"; ${CONNECTING_CLIENT}`;
    const client = await startClient(t, await startServer(t), [process.execPath, "-e", script]);
    const owner = await createPeers().lookUp(...client.ends);
    holdSearches(t);
    showOnly(t, [client.pid]);
    void owner.findProcess({ isOver: () => false });
    assert.deepEqual(owner.recallProcess()?.name, { tool: "pi", isProgramName: false });
  },
);

test(
  "of the newest processes at most 250 files are looked at, once for each connection",
  { skip: notLinux },
  async (t) => {
    const server = await startServer(t);
    const client = await startClient(t, server);
    const large = await startClient(t, server, clientWithFiles(300));
    const owner = await createPeers().lookUp(...client.ends);
    holdSearches(t);
    void owner.findProcess({ isOver: () => false });
    showOnly(t, [large.pid]);
    const looked = watchFiles(t);
    assert.equal(owner.recallProcess(), null);
    assert.ok(looked.length > 200 && looked.length <= 250, `${looked.length} files`);
    looked.length = 0;
    assert.equal(owner.recallProcess(), null);
    assert.deepEqual(looked, []);
  },
);

test("of a known process at most 256 files are looked at", { skip: notLinux }, async (t) => {
  const server = await startServer(t);
  const [client, large] = [await startClient(t, server), await startClient(t, server, clientWithFiles(300))];
  const peers = createPeers();
  await findProcess(peers, large.ends);
  holdSearches(t);
  showOnly(t, []);
  const owner = await startSearch(peers, client.ends);
  const looked = watchFiles(t);
  assert.equal(owner.recallProcess(), null);
  assert.equal(looked.length, 256);
});

test("the project of a known directory is recalled", { skip: notLinux }, async (t) => {
  const repository = realpathSync(scratchDirectory(t));
  mkdirSync(join(repository, ".git"));
  const client = await startClient(t, await startServer(t), undefined, { cwd: repository });
  const owner = await createPeers().lookUp(...client.ends);
  assert.equal(owner.recallProject(client.pid), null);
  await owner.findProject(client.pid);
  assert.equal(owner.recallProject(client.pid), repository);
});
