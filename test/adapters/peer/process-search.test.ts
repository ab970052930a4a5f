import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, { readlinkSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import { test, type TestContext } from "node:test";
import timers from "node:timers/promises";
import { createPeerInfo } from "../../../src/adapters/peer.ts";
import {
  CONNECTING,
  findProcess,
  ownConnection,
  startClient,
  startServer,
} from "../../helpers/process/peer-connection.ts";
import { ended } from "../../helpers/process/processes.ts";
import { NODE } from "../../helpers/process/tool-process.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";

const notLinux = process.platform !== "linux" && "needs Linux: elsewhere there is no /proc";

/** Names of the directories of open files that are opened from now on, in order. */
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
  test(`the process at the other end of an ${what} connection is found`, { skip: notLinux }, async (t) => {
    const { ends } = await ownConnection(t, listenOn, address);
    const found = await findProcess(createPeerInfo(), ends);
    assert.equal(found?.record.pid, process.pid);
    assert.equal(found.record.executable, NODE);
    assert.equal(found.record.parents[0], basename(readlinkSync(`/proc/${process.ppid}/exe`)));
  });
}

test(
  "a child is told from its parent, which stands first among its parents",
  { skip: notLinux },
  async (t) => {
    const client = await startClient(t, await startServer(t));
    const found = await findProcess(createPeerInfo(), client.ends);
    assert.deepEqual([found?.record.pid, found?.record.parents[0]], [client.pid, basename(NODE)]);
  },
);

test("of many processes and connections each has its own", { skip: notLinux }, async (t) => {
  const server = await startServer(t);
  const clients = [];
  for (let i = 0; i < 5; i += 1) clients.push(await startClient(t, server));
  // Newer than all of them, and so looked at before.
  for (let i = 0; i < 40; i += 1) {
    const other = spawn("sleep", ["60"], { stdio: "ignore" });
    t.after(() => other.kill("SIGKILL"));
    await once(other, "spawn");
  }
  const peers = createPeerInfo();
  const asked = clients.flatMap(({ pid, ends }) => [{ pid, ends }]);
  for (const { pid, again } of clients) asked.push({ pid, ends: await again() });
  const found = await Promise.all(asked.map(({ ends }) => findProcess(peers, ends)));
  assert.deepEqual(
    found.map((process) => process?.record.pid),
    asked.map(({ pid }) => pid),
  );
});

test("a process that was found before is looked at first, and nobody else", { skip: notLinux }, async (t) => {
  const client = await startClient(t, await startServer(t));
  const peers = createPeerInfo();
  const first = await findProcess(peers, client.ends);
  const ends = await client.again();
  const opened = watchDirectories(t);
  assert.equal(await findProcess(peers, ends), first);
  assert.deepEqual(opened, [`/proc/${client.pid}/fd`]);
});

test(
  "a number that was given to another program is not taken for the one before",
  { skip: notLinux },
  async (t) => {
    const script = `exec 3<>"/dev/tcp/127.0.0.1/$PORT"; read -r go; exec "$0" -e "$1"`;
    const client = await startClient(t, await startServer(t), [
      "bash",
      "--norc",
      "-c",
      script,
      process.execPath,
      CONNECTING,
    ]);
    const peers = createPeerInfo();
    const shell = await findProcess(peers, client.ends);
    const node = await findProcess(peers, await client.again());
    assert.deepEqual([shell?.record.pid, node?.record.pid], [client.pid, client.pid]);
    assert.deepEqual([basename(shell?.record.executable ?? ""), node?.record.executable], ["bash", NODE]);
  },
);

test(
  "of a socket that passed to a child, the parent that has it, too, is the holder",
  { skip: notLinux },
  async (t) => {
    const { client, ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
    const child = spawn("sleep", ["60"], { stdio: ["ignore", "ignore", "ignore", client] });
    t.after(() => child.kill("SIGKILL"));
    await once(child, "spawn");
    assert.equal((await findProcess(createPeerInfo(), ends))?.record.pid, process.pid);
  },
);

test("of a socket that only a child has any more, the child is the holder", { skip: notLinux }, async (t) => {
  const { client, ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
  const child = spawn("sleep", ["60"], { stdio: ["ignore", "ignore", "ignore", client] });
  t.after(() => child.kill("SIGKILL"));
  await once(child, "spawn");
  client.destroy();
  await once(client, "close");
  assert.equal((await findProcess(createPeerInfo(), ends))?.record.pid, child.pid);
});

test(
  "a process that has gone meanwhile is not found, and nothing else comes of it",
  { skip: notLinux },
  async (t) => {
    const client = await startClient(t, await startServer(t));
    const peers = createPeerInfo();
    const owner = await peers.lookUp(...client.ends);
    client.child.kill("SIGKILL");
    await ended(client.pid);
    assert.equal(await owner.findProcess({ isOver: () => false }), null);
  },
);

test(
  "a known process that has gone is forgotten, and the next is found all the same",
  { skip: notLinux },
  async (t) => {
    const server = await startServer(t);
    const peers = createPeerInfo();
    const first = await startClient(t, server);
    assert.equal((await findProcess(peers, first.ends))?.record.pid, first.pid);
    first.child.kill("SIGKILL");
    await ended(first.pid);
    const second = await startClient(t, server);
    assert.equal((await findProcess(peers, second.ends))?.record.pid, second.pid);
  },
);

test("for a connection that has ended nothing is looked at", { skip: notLinux }, async (t) => {
  const { ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
  const peers = createPeerInfo();
  const opened = watchDirectories(t);
  assert.equal(await findProcess(peers, ends, { isOver: () => true }), null);
  assert.deepEqual(opened, []);
  assert.equal((await findProcess(peers, ends))?.record.pid, process.pid);
  opened.length = 0;
  assert.equal(await findProcess(peers, ends, { isOver: () => true }), null);
  assert.deepEqual(opened, []);
});

test("another user's process is not looked for", { skip: notLinux }, async (t) => {
  const { ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
  const opened = watchDirectories(t);
  t.mock.method(process as { geteuid(): number }, "geteuid", () => 65_533);
  assert.equal(await findProcess(createPeerInfo(), ends), null);
  assert.deepEqual(opened, []);
});

/** Makes a function of the file system's fail for these paths. */
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
  "where no process may be looked into nobody is found, and no files are tried",
  { skip: notLinux },
  async (t) => {
    const { ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
    failFor(t, "readlinkSync", /^\/proc\/\d+\/exe$/);
    const opened = watchDirectories(t);
    assert.equal(await findProcess(createPeerInfo(), ends), null);
    assert.deepEqual(opened, []);
  },
);

test(
  "where no directory can be opened nobody is found, and nothing is thrown",
  { skip: notLinux },
  async (t) => {
    const { ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
    failFor(t, "opendirSync", /^\/proc\//);
    assert.equal(await findProcess(createPeerInfo(), ends), null);
  },
);

/** From now on a clock ticks each time that it is asked, so that each step of a search is a slice of its own. */
function tickAtEachStep(t: TestContext): () => number {
  let ticks = 0;
  t.mock.method(performance, "now", () => (ticks += 1));
  return () => ticks;
}

/** Calls back with the path of each symbolic link before it is read. */
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

/** Opens more files than a search of a known process looks at, before it connects and each time again. */
const MANY_FILES = `
  for (let i = 0; i < 200; i += 1) require("node:fs").openSync("/dev/null");
  ${CONNECTING}`;

test(
  "of a known process's files the first are looked at, and the rest with those of all others",
  { skip: notLinux },
  async (t) => {
    const client = await startClient(t, await startServer(t), [process.execPath, "-e", MANY_FILES]);
    const peers = createPeerInfo();
    await findProcess(peers, client.ends);
    const ends = await client.again();
    const opened = watchDirectories(t);
    const links: number[] = [];
    watchLinks(t, (path) => path.startsWith(`/proc/${client.pid}/fd/`) && links.push(opened.length));
    assert.equal((await findProcess(peers, ends))?.record.pid, client.pid);
    const beforeAllOthers = links.filter((directories) => directories <= 1).length;
    assert.ok(beforeAllOthers <= 64, `${beforeAllOthers} files`);
  },
);

test(
  "what is asked during a look at the known ones waits for the next look",
  { skip: notLinux },
  async (t) => {
    const client = await startClient(t, await startServer(t), [process.execPath, "-e", MANY_FILES]);
    const peers = createPeerInfo();
    await findProcess(peers, client.ends);
    const first = await peers.lookUp(...(await client.again()));
    const second = await peers.lookUp(...(await ownConnection(t, "127.0.0.1", "127.0.0.1")).ends);
    const query = { isOver: () => false };
    const events: string[] = [];
    const opened = watchDirectories(t);
    const asked: Promise<unknown>[] = [];
    tickAtEachStep(t);
    watchLinks(t, (path) => {
      if (!path.startsWith(`/proc/${client.pid}/fd/`)) return;
      events.push(`${opened.length}`);
      if (asked.length === 1) asked.push(second.findProcess(query));
    });
    asked.push(first.findProcess(query));
    await asked[0];
    await asked[1];
    const firstLook = events.filter((count) => Number(count) <= 1).length;
    assert.ok(firstLook > 60, `the second look began after ${firstLook} of the first one's files`);
  },
);

test(
  "when a connection ends during the look at the known processes, no other is looked at",
  { skip: notLinux },
  async (t) => {
    const server = await startServer(t);
    const peers = createPeerInfo();
    for (let i = 0; i < 3; i += 1) await findProcess(peers, (await startClient(t, server)).ends);
    const { ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
    const opened = watchDirectories(t);
    assert.equal(await findProcess(peers, ends, { isOver: () => opened.length > 0 }), null);
    assert.equal(opened.length, 1);
  },
);

for (const { what, leaves, factor } of [
  { what: "that ended during it, no longer a rest than any", leaves: true, factor: 9 },
  { what: "that lives and whose process is not seen, a long rest", leaves: false, factor: 99 },
]) {
  test(`after a search for a connection ${what}`, { skip: notLinux }, async (t) => {
    const { ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
    const owner = await createPeerInfo().lookUp(...ends);
    const { promise: rested, resolve: onRest } = withResolvers<number>();
    const mocked = t.mock.method(timers, "setTimeout", (async (ms: number) => {
      if (ms > 0) onRest(ms);
    }) as typeof timers.setTimeout);
    syncBuiltinESMExports();
    t.after(() => {
      mocked.mock.restore();
      syncBuiltinESMExports();
    });
    let hasLeft = false;
    failFor(t, "opendirSync", /^\/proc\//);
    const ticks = tickAtEachStep(t);
    watchLinks(t, () => (hasLeft = leaves));
    assert.equal(await owner.findProcess({ isOver: () => hasLeft }), null);
    // The clock is asked twice for each slice, and ticks once between.
    assert.equal((await rested) / (ticks() / 2), factor);
  });
}
