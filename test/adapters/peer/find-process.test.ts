import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, { readlinkSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import { test, type TestContext } from "node:test";
import timers from "node:timers/promises";
import { createPeerInfo } from "../../../src/adapters/peer.ts";
import { PROCESS_SIGNATURES } from "../../../src/tools/all.ts";
import {
  CONNECTING_CLIENT,
  findProcess,
  connectToSelf,
  startClient,
  startServer,
} from "../../helpers/process/peer-connection.ts";
import { waitForExit } from "../../helpers/process/processes.ts";
import { NODE } from "../../helpers/process/tool-process.ts";

const notLinux = process.platform !== "linux" && "needs Linux: elsewhere there is no /proc";

/** Returns a list that collects the path of each directory of open files when it is opened. */
function watchDirectories(t: TestContext): string[] {
  const opened: string[] = [];
  const { opendirSync } = fs;
  const mocked = t.mock.method(fs, "opendirSync", (...args: Parameters<typeof opendirSync>) => {
    opened.push(String(args[0]));
    return opendirSync(...args);
  });
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  return opened;
}

for (const [what, listenOn, address] of [
  ["IPv4", "127.0.0.1", "127.0.0.1"],
  ["IPv6", "::1", "::1"],
  ["IPv4 from a socket of both families", "127.0.0.1", "::ffff:127.0.0.1"],
] as const) {
  test(`finds the process of the client of an ${what} connection`, { skip: notLinux }, async (t) => {
    const { ends } = await connectToSelf(t, listenOn, address);
    const found = await findProcess(createPeerInfo(PROCESS_SIGNATURES), ends);
    assert.equal(found?.record.pid, process.pid);
    assert.equal(found.record.executable, NODE);
    assert.equal(found.record.parents[0], basename(readlinkSync(`/proc/${process.ppid}/exe`)));
  });
}

test("finds a child process, with its parent first among its parents", { skip: notLinux }, async (t) => {
  const client = await startClient(t, await startServer(t));
  const found = await findProcess(createPeerInfo(PROCESS_SIGNATURES), client.ends);
  assert.deepEqual([found?.record.pid, found?.record.parents[0]], [client.pid, basename(NODE)]);
});

test(
  "finds the right process for each of many connections of many processes",
  { skip: notLinux },
  async (t) => {
    const server = await startServer(t);
    const clients = [];
    for (let i = 0; i < 5; i += 1) clients.push(await startClient(t, server));
    // These are newer than the clients, so they are searched first.
    for (let i = 0; i < 40; i += 1) {
      const other = spawn("sleep", ["60"], { stdio: "ignore" });
      t.after(() => other.kill("SIGKILL"));
      await once(other, "spawn");
    }
    const peers = createPeerInfo(PROCESS_SIGNATURES);
    const lookups = clients.flatMap(({ pid, ends }) => [{ pid, ends }]);
    for (const { pid, again } of clients) lookups.push({ pid, ends: await again() });
    const found = await Promise.all(lookups.map(({ ends }) => findProcess(peers, ends)));
    assert.deepEqual(
      found.map((process) => process?.record.pid),
      lookups.map(({ pid }) => pid),
    );
  },
);

test("searches only the known process when it holds the socket", { skip: notLinux }, async (t) => {
  const client = await startClient(t, await startServer(t));
  const peers = createPeerInfo(PROCESS_SIGNATURES);
  const first = await findProcess(peers, client.ends);
  const ends = await client.again();
  const opened = watchDirectories(t);
  assert.equal(await findProcess(peers, ends), first);
  assert.deepEqual(opened, [`/proc/${client.pid}/fd`]);
});

test("notices that a known process executes another program", { skip: notLinux }, async (t) => {
  const script = `exec 3<>"/dev/tcp/127.0.0.1/$PORT"; read -r go; exec "$0" -e "$1"`;
  const client = await startClient(t, await startServer(t), [
    "bash",
    "--norc",
    "-c",
    script,
    process.execPath,
    CONNECTING_CLIENT,
  ]);
  const peers = createPeerInfo(PROCESS_SIGNATURES);
  const shell = await findProcess(peers, client.ends);
  const node = await findProcess(peers, await client.again());
  assert.deepEqual([shell?.record.pid, node?.record.pid], [client.pid, client.pid]);
  assert.deepEqual([basename(shell?.record.executable ?? ""), node?.record.executable], ["bash", NODE]);
});

test(
  "names the parent as the holder of a socket that a child has inherited",
  { skip: notLinux },
  async (t) => {
    const { client, ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
    const child = spawn("sleep", ["60"], { stdio: ["ignore", "ignore", "ignore", client] });
    t.after(() => child.kill("SIGKILL"));
    await once(child, "spawn");
    assert.equal((await findProcess(createPeerInfo(PROCESS_SIGNATURES), ends))?.record.pid, process.pid);
  },
);

test(
  "names the child as the holder of a socket that its parent has closed",
  { skip: notLinux },
  async (t) => {
    const { client, ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
    const child = spawn("sleep", ["60"], { stdio: ["ignore", "ignore", "ignore", client] });
    t.after(() => child.kill("SIGKILL"));
    await once(child, "spawn");
    client.destroy();
    await once(client, "close");
    assert.equal((await findProcess(createPeerInfo(PROCESS_SIGNATURES), ends))?.record.pid, child.pid);
  },
);

test("resolves to null when the process has ended before the search", { skip: notLinux }, async (t) => {
  const client = await startClient(t, await startServer(t));
  const peers = createPeerInfo(PROCESS_SIGNATURES);
  const owner = await peers.lookUp(...client.ends);
  client.child.kill("SIGKILL");
  await waitForExit(client.pid);
  assert.equal(await owner.findProcess({ isOver: () => false }), null);
});

test("finds the next process after a known one has ended", { skip: notLinux }, async (t) => {
  const server = await startServer(t);
  const peers = createPeerInfo(PROCESS_SIGNATURES);
  const first = await startClient(t, server);
  assert.equal((await findProcess(peers, first.ends))?.record.pid, first.pid);
  first.child.kill("SIGKILL");
  await waitForExit(first.pid);
  const second = await startClient(t, server);
  assert.equal((await findProcess(peers, second.ends))?.record.pid, second.pid);
});

test("searches nothing for a connection that has ended", { skip: notLinux }, async (t) => {
  const { ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
  const peers = createPeerInfo(PROCESS_SIGNATURES);
  const opened = watchDirectories(t);
  assert.equal(await findProcess(peers, ends, { isOver: () => true }), null);
  assert.deepEqual(opened, []);
  assert.equal((await findProcess(peers, ends))?.record.pid, process.pid);
  opened.length = 0;
  assert.equal(await findProcess(peers, ends, { isOver: () => true }), null);
  assert.deepEqual(opened, []);
});

test("does not search for another user's process", { skip: notLinux }, async (t) => {
  const { ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
  const opened = watchDirectories(t);
  t.mock.method(process as { geteuid(): number }, "geteuid", () => 65_533);
  assert.equal(await findProcess(createPeerInfo(PROCESS_SIGNATURES), ends), null);
  assert.deepEqual(opened, []);
});

/** Makes a file system function fail for these paths. */
function failFor(t: TestContext, name: "opendirSync" | "readlinkSync", paths: RegExp): void {
  const original = fs[name] as (path: string, ...rest: unknown[]) => unknown;
  const mocked = t.mock.method(
    fs as Record<typeof name, typeof original>,
    name,
    (path: string, ...rest: unknown[]) => {
      if (paths.test(path)) throw Object.assign(new Error("EACCES: on purpose"), { code: "EACCES" });
      return original(path, ...rest);
    },
  );
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
}

test(
  "finds no process where all processes hide their executables, and tries none of their files",
  { skip: notLinux },
  async (t) => {
    const { ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
    failFor(t, "readlinkSync", /^\/proc\/\d+\/exe$/);
    const opened = watchDirectories(t);
    assert.equal(await findProcess(createPeerInfo(PROCESS_SIGNATURES), ends), null);
    assert.deepEqual(opened, []);
  },
);

test("finds no process where no directory of open files can be opened", { skip: notLinux }, async (t) => {
  const { ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
  failFor(t, "opendirSync", /^\/proc\//);
  assert.equal(await findProcess(createPeerInfo(PROCESS_SIGNATURES), ends), null);
});

/** Makes the clock tick at each reading, so that each step of a search is a slice of its own. Returns the ticks so far. */
function tickAtEachStep(t: TestContext): () => number {
  let ticks = 0;
  t.mock.method(performance, "now", () => (ticks += 1));
  return () => ticks;
}

/** Calls `onLink` with the path of each symbolic link before it is read. */
function watchLinks(t: TestContext, onLink: (path: string) => void): void {
  const { readlinkSync: read } = fs;
  const mocked = t.mock.method(fs, "readlinkSync", ((path: string) => {
    onLink(path);
    return read(path);
  }) as typeof read);
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
}

/** A client with more open files than one slice of a search looks at. */
const MANY_FILES = `
  for (let i = 0; i < 200; i += 1) require("node:fs").openSync("/dev/null");
  ${CONNECTING_CLIENT}`;

test(
  "a lookup that starts during a search of the known processes waits for the next search",
  { skip: notLinux },
  async (t) => {
    const client = await startClient(t, await startServer(t), [process.execPath, "-e", MANY_FILES]);
    const peers = createPeerInfo(PROCESS_SIGNATURES);
    await findProcess(peers, client.ends);
    const first = await peers.lookUp(...(await client.again()));
    const second = await peers.lookUp(...(await connectToSelf(t, "127.0.0.1", "127.0.0.1")).ends);
    const query = { isOver: () => false };
    const events: string[] = [];
    const opened = watchDirectories(t);
    const lookups: Promise<unknown>[] = [];
    tickAtEachStep(t);
    watchLinks(t, (path) => {
      if (!path.startsWith(`/proc/${client.pid}/fd/`)) return;
      events.push(`${opened.length}`);
      if (lookups.length === 1) lookups.push(second.findProcess(query));
    });
    lookups.push(first.findProcess(query));
    await lookups[0];
    await lookups[1];
    const firstSearch = events.filter((count) => Number(count) <= 1).length;
    assert.ok(firstSearch > 60, `the second search began after ${firstSearch} of the first one's files`);
  },
);

test("stops the search of the known processes when the connection ends", { skip: notLinux }, async (t) => {
  const server = await startServer(t);
  const peers = createPeerInfo(PROCESS_SIGNATURES);
  for (let i = 0; i < 3; i += 1) await findProcess(peers, (await startClient(t, server)).ends);
  const { ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
  const opened = watchDirectories(t);
  assert.equal(await findProcess(peers, ends, { isOver: () => opened.length > 0 }), null);
  assert.equal(opened.length, 1);
});

/** Makes every search find nothing, and pauses end at once. Returns a list that collects their lengths. */
function searchInVain(t: TestContext): number[] {
  const pauses: number[] = [];
  const now = performance.now();
  t.mock.method(performance, "now", () => now);
  const mocked = t.mock.method(timers, "setTimeout", (async (ms: number) => {
    pauses.push(ms);
  }) as typeof timers.setTimeout);
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  failFor(t, "opendirSync", /^\/proc\//);
  return pauses;
}

const MANY_SEARCHES = 500;

test(
  "pauses after many searches that found no process of an open connection, longer after each, and five seconds at most",
  { skip: notLinux },
  async (t) => {
    const { ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
    const peers = createPeerInfo(PROCESS_SIGNATURES);
    const pauses = searchInVain(t);
    assert.equal(await findProcess(peers, ends), null);
    assert.deepEqual(pauses, [], "the first search leaves some of the allowance");
    for (let i = 0; i < MANY_SEARCHES; i += 1) assert.equal(await findProcess(peers, ends), null);
    assert.deepEqual(
      pauses,
      pauses.toSorted((a, b) => a - b),
    );
    assert.ok((pauses[0] ?? 0) > 0 && (pauses[0] ?? 0) < 5_000, `first ${pauses[0]} ms`);
    assert.equal(pauses.at(-1), 5_000);
  },
);

test(
  "does not pause after as many searches for connections that had ended",
  { skip: notLinux },
  async (t) => {
    const { ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
    const peers = createPeerInfo(PROCESS_SIGNATURES);
    const pauses = searchInVain(t);
    for (let i = 0; i < MANY_SEARCHES; i += 1) {
      let asked = 0;
      // It ends while the search looks at the first processes.
      assert.equal(await findProcess(peers, ends, { isOver: () => (asked += 1) > 3 }), null);
    }
    assert.deepEqual(pauses, []);
  },
);
