// A6, 0.0.0.0 and reliance on browsers: tollkeeper listens on 127.0.0.1 and ::1 and on no other address, and refuses a Host of
// 0.0.0.0 without relying on the browser.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { bindSockets } from "../helpers/process/bound-sockets.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";

const notLinux = process.platform !== "linux" && "needs Linux: its tables of sockets in /proc";

/** The addresses of this machine that other machines can reach. A link-local address needs the name of its link. */
function outerAddresses(): string[] {
  return Object.entries(networkInterfaces()).flatMap(([link, addresses = []]) =>
    addresses
      .filter(({ internal }) => !internal)
      .map(({ address }) => (address.startsWith("fe80:") ? `${address}%${link}` : address)),
  );
}

/** Returns `connected` or the error code. */
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
  "only the two loopback addresses of this machine accept connections on our port",
  { skip: outer.length === 0 && "this machine has no address but loopback: nothing was tried" },
  async (t) => {
    const { port } = await startGate(t, "http://127.0.0.1:1/v1");
    t.diagnostic(`tried: ${outer.join(", ")}`);
    for (const address of outer) assert.equal(await tryToConnect(port, address), "ECONNREFUSED", address);
    for (const address of ["127.0.0.1", "::1"]) assert.equal(await tryToConnect(port, address), "connected");
  },
);

test("of the IPv4 loopback addresses only 127.0.0.1 accepts connections", { skip: notLinux }, async (t) => {
  const { port } = await startGate(t, "http://127.0.0.1:1/v1");
  for (const address of ["127.0.0.2", "127.1.2.3"]) {
    assert.equal(await tryToConnect(port, address), "ECONNREFUSED");
  }
});

test(
  "a request through 0.0.0.0, which Linux routes to loopback, is refused for its Host",
  { skip: notLinux },
  async (t) => {
    const upstream = await startUpstream(t, respondWithEmptyJson);
    const { port } = await startGate(t, upstream.baseUrl);
    for (const host of ["0.0.0.0", "[::]"]) {
      const res = await fetch(`http://${host}:${port}/v1/models`);
      assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [403, "host_not_allowed"]);
      await res.text();
    }
    assert.equal(upstream.seen.length, 0);
  },
);

/** The TCP addresses on which a process listens, in the kernel's notation: hexadecimal address and port. */
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
  "a daemon listens on both loopback addresses, and besides that only on the loopback port of its sandbox",
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

test("a daemon refuses to start with an inherited socket beyond loopback", async (t) => {
  const sockets = bindSockets(t, ["0.0.0.0"]);
  await assert.rejects(
    startDaemon(t, { port: sockets.port, sockets }),
    /error: a socket from the service manager is not on loopback: 0\.0\.0\.0:\d+\nhint: /,
  );
});
