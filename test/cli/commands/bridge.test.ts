import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, mkdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { readBridgeLine } from "../../../src/cli/commands/bridge/arguments.ts";
import { rawClient } from "../../helpers/client/raw-client.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { NOBODY, noDaemonAs } from "../../helpers/process/other-user.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { startBridge } from "../../helpers/remote/bridge.ts";
import { startSocketDaemon } from "../../helpers/remote/socket-daemon.ts";
import { listenOnUnix } from "../../helpers/remote/unix-server.ts";

const read = (line: string) => readBridgeLine(line.split(" "));

test("the usual command line is read without yargs, and any other is left to it", () => {
  assert.deepEqual(read("bridge --socket /run/x.sock"), { socket: "/run/x.sock", port: undefined });
  assert.deepEqual(read("bridge --port 0 --socket x.sock"), { socket: "x.sock", port: 0 });
  for (const line of [
    "bridge",
    "bridge --help",
    "bridge --socket",
    "bridge --socket a --socket b",
    "bridge --socket a --port 65536",
    "bridge --socket a --port 08",
    "bridge --socket a --port -1",
    "bridge --socket=a",
    "bridge --socket a b",
    "serve --socket a",
  ])
    assert.equal(read(line), null, line);
});

test("it takes no configuration file, which is on the daemon's host", async (t) => {
  const { path } = await listenOnUnix(t);
  await assert.rejects(startBridge(t, path, { args: ["--config", "x"] }), /there is no option --config/);
});

test("a mount, a port and a socket that cannot be used are told with what to do", async (t) => {
  const { path } = await listenOnUnix(t);
  await assert.rejects(
    startBridge(t, "/nowhere/tollkeeper.sock"),
    /error: there is no \/nowhere: the socket is not mounted here\nhint: mount [^]*connect devcontainer --print/,
  );
  await assert.rejects(
    startBridge(t, path).then((one) => startBridge(t, path, { args: ["--port", String(one.port)] })),
    (error: Error) => {
      assert.match(
        error.message,
        /error: port \d+ is taken by another tollkeeper, pid \d+ \(.*\)\nhint: to use another port, type: .*--port \d+\n {6}or a bridge runs here already, /,
      );
      return true;
    },
  );
  await assert.rejects(
    startBridge(t, path, { args: ["--port", "70000"] }),
    /"--port" needs a number from 0 to 65535/,
  );
});

test(
  "a user who may not use the socket is told whose it is to ask",
  { skip: noDaemonAs(NOBODY) },
  async (t) => {
    const { path } = await listenOnUnix(t);
    const launcher = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
    const open = join(path, "..");
    chmodSync(open, 0o711);
    await assert.rejects(
      startBridge(t, path, { launcher }),
      /error: this user may not use \/[^]*hint: see whose it is with: ls -ln \/.*; then run the bridge as that user|hint: see whose it is with: ls -ln/,
    );
  },
);

test("a daemon that does not run yet is no fault: clients get a 502 that names the command, and are served once it runs", async (t) => {
  const directory = join(scratchDirectory(t), "sockets");
  mkdirSync(directory, { mode: 0o700 });
  const socket = join(directory, "tollkeeper.sock");
  const bridge = await startBridge(t, socket);
  await bridge.waitForNote(/note: there is no socket at .*: tollkeeper is not running/);
  const response = await fetch(`${bridge.url}/v1/models`);
  assert.equal(response.status, 502);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  assert.equal(error.code, "bridge_unreachable");
  assert.match(error.message, /On its host, type: tollkeeper doctor$/);
  await startDaemon(t, { config: { listen: { socket } } });
  assert.equal((await fetch(`${bridge.url}/v1/models`)).status, 200);
});

test("a restarted daemon is found again by the same bridge", async (t) => {
  const first = await startSocketDaemon(t);
  const bridge = await startBridge(t, first.socket);
  assert.equal((await fetch(`${bridge.url}/v1/models`)).status, 200);
  await first.daemon.stop();
  await startDaemon(t, { config: { listen: { socket: first.socket } } });
  assert.equal((await fetch(`${bridge.url}/v1/models`)).status, 200);
});

test("SIGTERM refuses new connections and lets open ones end; a second one breaks them off", async (t) => {
  const { path, accepted } = await listenOnUnix(t);
  for (const isPatient of [true, false]) {
    const bridge = await startBridge(t, path);
    const [client, daemon] = await Promise.all([rawClient(t, bridge.port), accepted()]);
    client.write("POST /v1/messages HTTP/1.1\r\n\r\n");
    daemon.resume();
    daemon.write("the beginning");
    await client.until(/the beginning/);
    bridge.signal("SIGTERM");
    await bridge.waitForNote(/stopping when 1 open connection has ended/);
    await assert.rejects(rawClient(t, bridge.port), { code: "ECONNREFUSED" });
    if (isPatient) {
      daemon.end(", and the end");
      assert.equal(await client.closed, "the beginning, and the end");
    } else {
      const failed = once(client.socket, "error");
      bridge.signal("SIGTERM");
      await failed;
    }
    assert.equal(await bridge.ended, 0);
  }
});

test("a port that is free on one loopback address only is not half taken", async (t) => {
  const { path } = await listenOnUnix(t);
  const other = createServer().listen(0, "::1");
  await once(other, "listening");
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  await assert.rejects(startBridge(t, path, { args: ["--port", String(port)] }), /is taken by pid/);
});
