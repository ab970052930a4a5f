// A6, 0.0.0.0 and reliance on browsers: tollkeeper listens on 127.0.0.1 and ::1 and on no other address, and refuses a Host of 0.0.0.0, whatever a browser would have stopped.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { bindSockets } from "../helpers/process/bound-sockets.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { sendJson, startUpstream } from "../helpers/upstream/scripted-upstream.ts";

const notLinux = process.platform !== "linux" && "needs Linux: its tables of sockets in /proc";

/** This machine's own addresses that others reach; one that is valid on its link alone needs the link's name. */
function outerAddresses(): string[] {
  return Object.entries(networkInterfaces()).flatMap(([link, addresses = []]) =>
    addresses
      .filter(({ internal }) => !internal)
      .map(({ address }) => (address.startsWith("fe80:") ? `${address}%${link}` : address)),
  );
}

/** `connected`, or the code of the error. */
async function tryToConnect(port: number, address: string): Promise<unknown> {
  const socket = connect(port, address);
  try {
    await once(socket, "connect");
    return "connected";
  } catch (error) {
    return Reflect.get(Object(error), "code");
  } finally {
    socket.destroy();
  }
}

const outer = outerAddresses();

test(
  "no address of this machine but the two of loopback has anyone on our port",
  { skip: outer.length === 0 && "this machine has no address but loopback: nothing was tried" },
  async (t) => {
    const { port } = await startGate(t, "http://127.0.0.1:1/v1");
    t.diagnostic(`tried: ${outer.join(", ")}`);
    for (const address of outer) assert.equal(await tryToConnect(port, address), "ECONNREFUSED", address);
    for (const address of ["127.0.0.1", "::1"]) assert.equal(await tryToConnect(port, address), "connected");
  },
);

test("of all loopback addresses it is 127.0.0.1 alone", { skip: notLinux }, async (t) => {
  const { port } = await startGate(t, "http://127.0.0.1:1/v1");
  for (const address of ["127.0.0.2", "127.1.2.3"]) {
    assert.equal(await tryToConnect(port, address), "ECONNREFUSED");
  }
});

test(
  "what reaches us through 0.0.0.0, as Linux allows, is refused for its Host",
  { skip: notLinux },
  async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => sendJson(res, {}));
    const { port } = await startGate(t, upstream.baseUrl);
    for (const host of ["0.0.0.0", "[::]"]) {
      const res = await fetch(`http://${host}:${port}/v1/models`);
      assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [403, "host_not_allowed"]);
      await res.text();
    }
    assert.equal(upstream.seen.length, 0);
  },
);

/** Where a process listens on TCP, as the kernel spells it: hexadecimal address and port. */
function listeningSockets(pid: number): string[] {
  const held = new Set(descriptorsOf(pid));
  const rows = ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/net/${table}`, "latin1").split("\n"));
  return rows.flatMap((row) => {
    const [, local = "", , state, , , , , , inode = ""] = row.trim().split(/\s+/);
    return state === LISTENING && held.has(`socket:[${inode}]`) ? [local] : [];
  });
}

const LISTENING = "0A";
const V4_LOOPBACK = "0100007F";
const V6_LOOPBACK = "00000000000000000000000001000000";

function descriptorsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      // Closed since the listing.
      return [];
    }
  });
}

test(
  "a daemon listens on its port on both loopback addresses, and on nothing else but its sandbox, there as well",
  { skip: notLinux },
  async (t) => {
    const daemon = await startDaemon(t);
    const sockets = listeningSockets(daemon.pid);
    const hexPort = daemon.port.toString(16).toUpperCase().padStart(4, "0");
    const own = [`${V4_LOOPBACK}:${hexPort}`, `${V6_LOOPBACK}:${hexPort}`];
    const sandbox = sockets.filter((socket) => !own.includes(socket));
    assert.deepEqual(sockets.filter((socket) => own.includes(socket)).toSorted(), own.toSorted());
    assert.equal(sandbox.length, 1);
    assert.match(sandbox[0] ?? "", new RegExp(`^${V4_LOOPBACK}:`));
  },
);

test("a socket that is handed over and not on loopback is not served", async (t) => {
  const sockets = bindSockets(t, ["0.0.0.0"]);
  await assert.rejects(
    startDaemon(t, { port: sockets.port, sockets }),
    /error: a socket was handed over that is not on loopback: 0\.0\.0\.0:\d+\nhint: /,
  );
});
