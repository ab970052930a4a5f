import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { createPeerInfo } from "../../src/adapters/peer.ts";
import { failReadings, interceptReadings } from "../helpers/process/kernel-tables.ts";
import { ownConnection, type Ends } from "../helpers/process/peer-connection.ts";

const OWN_UID = process.getuid?.() ?? null;
const notLinux = process.platform !== "linux" && "needs Linux: elsewhere the system does not tell";

for (const [what, listenOn, address, spelled] of [
  ["IPv4", "127.0.0.1", "127.0.0.1", "127.0.0.1"],
  ["IPv6", "::1", "::1", "::1"],
  ["IPv4 to a socket of both families", "::", "127.0.0.1", "::ffff:127.0.0.1"],
  ["IPv4 from a socket of both families", "127.0.0.1", "::ffff:127.0.0.1", "127.0.0.1"],
] as const) {
  test(`the uid at the other end of an ${what} connection is found`, { skip: notLinux }, async (t) => {
    const { ends } = await ownConnection(t, listenOn, address);
    assert.equal(ends[0].address, spelled);
    assert.equal((await createPeerInfo().lookUp(...ends)).uid, OWN_UID);
  });
}

for (const [what, listenOn, address, tables] of [
  ["an IPv4 connection", "127.0.0.1", "127.0.0.1", ["tcp"]],
  ["an IPv6 connection", "::1", "::1", ["tcp6"]],
  ["a client that is not in the first table", "127.0.0.1", "::ffff:127.0.0.1", ["tcp", "tcp6"]],
] as const) {
  test(`for ${what} no more is read than ${tables.join(" and ")}`, { skip: notLinux }, async (t) => {
    const { ends } = await ownConnection(t, listenOn, address);
    const read: string[] = [];
    interceptReadings(t, async (path) => void read.push(path));
    await createPeerInfo().lookUp(...ends);
    assert.deepEqual(
      read,
      tables.map((name) => `/proc/net/${name}`),
    );
  });
}

test("many questions at once are all answered, each with its own answer", { skip: notLinux }, async (t) => {
  const all = await Promise.all(Array.from({ length: 20 }, () => ownConnection(t, "127.0.0.1", "127.0.0.1")));
  const peers = createPeerInfo();
  const nobodyHere: Ends = [{ address: "127.0.0.1", port: 1 }, all[0]?.ends[1] ?? { address: "", port: 0 }];
  const asked = [...all.map(({ ends }) => ends), nobodyHere];
  const first = asked.slice(0, 3).map((ends) => peers.lookUp(...ends));
  const rest = asked.slice(3).map((ends) => peers.lookUp(...ends));
  const owners = await Promise.all([...first, ...rest]);
  assert.deepEqual(
    owners.map(({ uid }) => uid),
    [...all.map(() => OWN_UID), -1],
  );
});

test(
  "a socket that its process has closed, which the kernel shows as root's, is nobody's",
  { skip: notLinux },
  async (t) => {
    const { client, ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
    // The server never reads to the end and never closes: the client's half stays behind in FIN_WAIT_2, orphaned.
    client.destroy();
    await once(client, "close");
    let readings = 0;
    interceptReadings(t, async () => void (readings += 1));
    assert.equal((await createPeerInfo().lookUp(...ends)).uid, -1);
    // Of both tables, once: it was found, and need not be looked for again.
    assert.equal(readings, 2);
  },
);

test("a client that has gone is nobody's, so nobody is let in for it", { skip: notLinux }, async (t) => {
  const { client, ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
  client.resetAndDestroy();
  await once(client, "close");
  assert.equal((await createPeerInfo().lookUp(...ends)).uid, -1);
});

test(
  "a client that closed in order, and whose socket only waits for its time, is nobody's",
  { skip: notLinux },
  async (t) => {
    const { client, ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
    client.end();
    await once(client.resume(), "close");
    assert.equal((await createPeerInfo().lookUp(...ends)).uid, -1);
  },
);

for (const [code, what, uid] of [
  ["ENOENT", "there are no tables", null],
  ["EACCES", "the tables are closed to us", null],
  ["EMFILE", "no descriptor is free to read them", -1],
] as const) {
  test(`where ${what} (${code}) the answer is ${uid}`, { skip: notLinux }, async (t) => {
    const { ends } = await ownConnection(t, "127.0.0.1", "127.0.0.1");
    failReadings(t, code);
    assert.equal((await createPeerInfo().lookUp(...ends)).uid, uid);
  });
}
