// A15, the bridge: it listens on loopback alone, only for the user who runs it, bounds its connections, and holds nothing of value.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { curlAs, NOBODY, noOtherUser } from "../helpers/process/other-user.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { startBridge } from "../helpers/remote/bridge.ts";
import { startSocketDaemon } from "../helpers/remote/socket-daemon.ts";

const notLinux = process.platform !== "linux" && "needs Linux: its tables of sockets in /proc";

/** The addresses, as the kernel spells them, on which a process listens. */
function listeningAddresses(pid: number): string[] {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return ["tcp", "tcp6", "udp", "udp6"].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, "latin1")
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((row) => row.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => links.includes(`socket:[${inode}]`) && state !== "01")
      .map(([, address]) => `${table} ${address?.split(":")[0]}`),
  );
}

/**
 * Resolves to the whole response of a connection of its own, empty when it was reset. Node's fetch is no judge of resets: at times it
 * never settles when one arrives before its request is written.
 */
async function exchange(port: number): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => (received += text));
  socket.on("error", () => {});
  socket.write("GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  await new Promise((closed) => socket.once("close", closed));
  return received;
}

test("it listens on 127.0.0.1 and ::1 and on nothing else", { skip: notLinux }, async (t) => {
  const { socket } = await startSocketDaemon(t);
  const { pid } = await startBridge(t, socket);
  const addresses = ["tcp 0100007F", "tcp6 00000000000000000000000001000000"];
  assert.deepEqual(listeningAddresses(pid), addresses.slice(0, existsSync("/proc/net/if_inet6") ? 2 : 1));
});

test("no option makes it listen elsewhere", async (t) => {
  const { socket } = await startSocketDaemon(t);
  for (const option of ["--host", "--address", "--listen", "--bind"])
    await assert.rejects(startBridge(t, socket, { args: [`${option}=0.0.0.0`] }), /there is no option/);
});

test(
  "another user of its host is refused and told about; the user who runs it, and root, are served",
  { skip: noOtherUser },
  async (t) => {
    const { daemon, socket } = await startSocketDaemon(t);
    const bridge = await startBridge(t, socket);
    // The reset arrives while curl connects, sends or reads (libcurl error codes).
    const resets = [7, 55, 56];
    const { exitCode } = await curlAs(NOBODY, `${bridge.url}/v1/models`);
    assert.ok(resets.includes(exitCode), `curl ended with ${exitCode}`);
    await bridge.waitForNote(
      new RegExp(`refused a connection of another user of this host, uid ${NOBODY}; run the bridge as `),
    );
    assert.equal((await curlAs(0, `${bridge.url}/v1/models`)).status, 200);
    assert.equal((await daemon.ledger()).length, 1);
  },
);

test(
  "a client that has left before it is examined is not taken for another user",
  { skip: notLinux },
  async (t) => {
    const { socket } = await startSocketDaemon(t);
    const bridge = await startBridge(t, socket);
    bridge.signal("SIGSTOP");
    const client = connect(bridge.port, "127.0.0.1");
    await once(client, "connect");
    client.destroy();
    await once(client, "close");
    bridge.signal("SIGCONT");
    assert.match(await exchange(bridge.port), /^HTTP\/1\.1 200/);
    // Ends it when its clients have left.
    bridge.signal("SIGTERM");
    assert.equal(await bridge.ended, 0);
    assert.doesNotMatch(bridge.stderr(), /refused/);
  },
);

test(
  "its connections are bounded, and one that ends makes room for another",
  { skip: notLinux },
  async (t) => {
    const { socket } = await startSocketDaemon(t);
    // (80 - 64) / 2 connections: the rest is for its own files.
    const launcher = ["/bin/sh", "-c", 'ulimit -n 80; exec "$@"', "sh"];
    const bridge = await startBridge(t, socket, { launcher });
    const open: Socket[] = [];
    t.after(() => open.forEach((one) => one.destroy()));
    for (let i = 0; i < 8; i += 1) {
      const one = connect(bridge.port, "127.0.0.1");
      open.push(one);
      one.write("GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n");
      const [answer] = (await once(one, "data")) as [Buffer];
      assert.match(answer.toString(), /^HTTP\/1\.1 200/);
    }
    assert.equal(await exchange(bridge.port), "");
    await bridge.waitForNote(/more than 8 connections at once; further ones are refused/);
    for (const one of open) one.resetAndDestroy();
    for (const one of open) if (!one.closed) await once(one, "close");
    let answer = "";
    while (answer === "") answer = await exchange(bridge.port);
    assert.match(answer, /^HTTP\/1\.1 200/);
  },
);

test(
  "it opens no file of tollkeeper's, and runs in an empty environment with no home",
  { skip: notLinux },
  async (t) => {
    const { socket } = await startSocketDaemon(t);
    const empty = scratchDirectory(t);
    const bridge = await startBridge(t, socket, { env: { HOME: empty, XDG_RUNTIME_DIR: empty } });
    assert.equal((await fetch(`${bridge.url}/v1/models`)).status, 200);
    assert.deepEqual(readdirSync(empty), []);
    const files = readdirSync(`/proc/${bridge.pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${bridge.pid}/fd/${fd}`)];
      } catch {
        return [];
      }
    });
    assert.deepEqual(
      files.filter((file) => /config|ledger|tokens|\.json/.test(file)),
      [],
    );
  },
);
