import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { createPeerInfo } from "../../src/adapters/peer.ts";
import type { PeerOwner } from "../../src/ports.ts";
import { PROCESS_SIGNATURES } from "../../src/tools/all.ts";
import { failTableReads, interceptTableReads } from "../helpers/process/socket-tables.ts";
import { connectToSelf, type ConnectionEnds } from "../helpers/process/peer-connection.ts";

const OWN_UID = process.getuid?.() ?? null;
const notLinux = process.platform !== "linux" && "needs Linux: elsewhere the system does not tell";

for (const [what, listenOn, address, spelled] of [
  ["IPv4", "127.0.0.1", "127.0.0.1", "127.0.0.1"],
  ["IPv6", "::1", "::1", "::1"],
  ["IPv4 to a socket of both families", "::", "127.0.0.1", "::ffff:127.0.0.1"],
  ["IPv4 from a socket of both families", "127.0.0.1", "::ffff:127.0.0.1", "127.0.0.1"],
] as const) {
  test(`finds the uid of the client of an ${what} connection`, { skip: notLinux }, async (t) => {
    const { ends } = await connectToSelf(t, listenOn, address);
    assert.equal(ends[0].address, spelled);
    assert.equal((await createPeerInfo(PROCESS_SIGNATURES).lookUp(...ends)).uid, OWN_UID);
  });
}

for (const [what, listenOn, address, tables] of [
  ["an IPv4 connection", "127.0.0.1", "127.0.0.1", ["tcp"]],
  ["an IPv6 connection", "::1", "::1", ["tcp6"]],
  ["a client that is not in the first table", "127.0.0.1", "::ffff:127.0.0.1", ["tcp", "tcp6"]],
] as const) {
  test(`reads only ${tables.join(" and ")} for ${what}`, { skip: notLinux }, async (t) => {
    const { ends } = await connectToSelf(t, listenOn, address);
    const read: string[] = [];
    interceptTableReads(t, async (path) => void read.push(path));
    await createPeerInfo(PROCESS_SIGNATURES).lookUp(...ends);
    assert.deepEqual(
      read,
      tables.map((name) => `/proc/net/${name}`),
    );
  });
}

test("resolves many concurrent lookups, each to its own owner", { skip: notLinux }, async (t) => {
  const all = await Promise.all(Array.from({ length: 20 }, () => connectToSelf(t, "127.0.0.1", "127.0.0.1")));
  const peers = createPeerInfo(PROCESS_SIGNATURES);
  const unknown: ConnectionEnds = [
    { address: "127.0.0.1", port: 1 },
    all[0]?.ends[1] ?? { address: "", port: 0 },
  ];
  const lookups = [...all.map(({ ends }) => ends), unknown];
  const first = lookups.slice(0, 3).map((ends) => peers.lookUp(...ends));
  const rest = lookups.slice(3).map((ends) => peers.lookUp(...ends));
  const owners = await Promise.all([...first, ...rest]);
  assert.deepEqual(
    owners.map(({ uid }) => uid),
    [...all.map(() => OWN_UID), -1],
  );
});

test(
  "lookups that arrive while a table is read are answered by that reading or by the next, also two of one connection",
  { skip: notLinux },
  async (t) => {
    const [one, other] = await Promise.all([
      connectToSelf(t, "127.0.0.1", "127.0.0.1"),
      connectToSelf(t, "127.0.0.1", "127.0.0.1"),
    ]);
    const peers = createPeerInfo(PROCESS_SIGNATURES);
    const late: Promise<PeerOwner>[] = [];
    let readings = 0;
    interceptTableReads(t, async () => {
      readings += 1;
      if (late.length === 0) late.push(peers.lookUp(...other.ends), peers.lookUp(...other.ends));
    });
    const owners = [await peers.lookUp(...one.ends), ...(await Promise.all(late))];
    assert.deepEqual(
      owners.map(({ uid }) => uid),
      [OWN_UID, OWN_UID, OWN_UID],
    );
    // Their own may have been read before they arrived. Then the second table is read in vain, and the first once more.
    assert.ok(readings <= 3, `${readings} readings`);
  },
);

test(
  "returns no owner for a socket that its process has closed and that the kernel shows as root's",
  { skip: notLinux },
  async (t) => {
    const { client, ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
    // The server neither reads to the end nor closes, so the client's socket stays in FIN_WAIT_2 without a process.
    client.destroy();
    await once(client, "close");
    let readings = 0;
    interceptTableReads(t, async () => void (readings += 1));
    assert.equal((await createPeerInfo(PROCESS_SIGNATURES).lookUp(...ends)).uid, -1);
    // One of each table: the socket was found, so there is no second attempt.
    assert.equal(readings, 2);
  },
);

test("returns no owner for a client that has disconnected", { skip: notLinux }, async (t) => {
  const { client, ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
  client.resetAndDestroy();
  await once(client, "close");
  assert.equal((await createPeerInfo(PROCESS_SIGNATURES).lookUp(...ends)).uid, -1);
});

test("returns no owner for a client whose socket is in TIME_WAIT", { skip: notLinux }, async (t) => {
  const { client, ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
  client.end();
  await once(client.resume(), "close");
  assert.equal((await createPeerInfo(PROCESS_SIGNATURES).lookUp(...ends)).uid, -1);
});

for (const [code, what, uid] of [
  ["ENOENT", "there are no tables", null],
  ["EACCES", "the tables are not readable", null],
  ["EMFILE", "no descriptor is free to read the tables", -1],
] as const) {
  test(`returns uid ${uid} where ${what} (${code})`, { skip: notLinux }, async (t) => {
    const { ends } = await connectToSelf(t, "127.0.0.1", "127.0.0.1");
    failTableReads(t, code);
    assert.equal((await createPeerInfo(PROCESS_SIGNATURES).lookUp(...ends)).uid, uid);
  });
}
