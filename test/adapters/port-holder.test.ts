import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { isListening, portTaken } from "../../src/adapters/port-holder.ts";
import { Failure } from "../../src/core/failure.ts";
import { ON_MACOS } from "../helpers/launchd/fake-launchd.ts";
import { freePort } from "../helpers/process/free-port.ts";
import { fakePrograms } from "../helpers/process/fake-programs.ts";

/** Listens on the address in its first argument, prints the port and keeps running. */
const HOLDER = `require("node:net").createServer().listen(0, process.argv[1], function () {
  console.log(this.address().port);
});`;

for (const address of ["127.0.0.1", "::1", "::"]) {
  test(`names pid and command of the process that listens on a taken port at ${address}`, async (t) => {
    const holder = spawn(process.execPath, ["-e", HOLDER, address], { stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => holder.kill("SIGKILL"));
    const [output] = (await once(holder.stdout, "data")) as [Buffer];
    const failure = portTaken(Number(output), new Error("taken"));
    assert.ok(failure instanceof Failure);
    assert.match(
      failure.message,
      new RegExp(`^port ${Number(output)} is taken by pid ${holder.pid} \\(.*node`),
    );
  });
}

test("finds the holder behind a file that is closed during the search: the directory of our own open files", async (t) => {
  const low = openSync("/dev/null", "r");
  const server = createServer().listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  // Its number is the next that is used.
  closeSync(low);
  const { port } = server.address() as AddressInfo;
  assert.match(portTaken(port, null).message, new RegExp(`is taken by pid ${process.pid} `));
});

test("gives a hint with the command that lists the holder and the one that changes the port", async () => {
  const port = await freePort();
  const { hint } = portTaken(port, new Error("taken"));
  assert.match(hint ?? "", new RegExp(`(?:ss|lsof) .*${port}.*tollkeeper config edit$`));
});

test("on macOS runs and names lsof by its own place, whatever PATH leads to", (t) => {
  const planted = fakePrograms(t, { lsof: [{ match: "*", stdout: "p1\ncplanted\n" }] });
  const holder = new URL("../../src/adapters/port-holder.ts", import.meta.url).href;
  const program = `
    const { portTaken } = await import(${JSON.stringify(holder)});
    const { message, hint } = portTaken(8655, null);
    console.log(message + "; " + hint);
  `;
  const words = [ON_MACOS, "--import", "tsx", "--input-type=module", "--eval", program];
  const env = { ...process.env, PATH: `${planted.directory}:${process.env["PATH"]}` };
  const { stdout } = spawnSync(process.execPath, words, { encoding: "utf8", env });
  assert.match(stdout, /^port 8655 is taken by .*(?<![\w/])\/usr\/sbin\/lsof -nP -iTCP:8655 /);
  assert.deepEqual(planted.calls(), []);
});

test("does not name a process that merely has a connection from that port as its holder", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = spawn(
    process.execPath,
    ["-e", `const c = require("node:net").connect(${port}, "127.0.0.1", () => console.log(c.localPort));`],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  t.after(() => client.kill("SIGKILL"));
  const [output] = (await once(client.stdout, "data")) as [Buffer];
  assert.match(portTaken(Number(output), new Error("taken")).message, /is taken by another program$/);
});

const skipElsewhere = process.platform !== "linux" && "needs Linux: elsewhere a connection is the probe";

for (const [host, expected] of [
  ["127.0.0.1", [true, false]],
  ["::1", [false, true]],
  ["0.0.0.0", [true, false]],
  ["::", [true, true]],
] as const) {
  test(`finds what listens on ${host} without connecting to it`, { skip: skipElsewhere }, async (t) => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.end();
    }).listen(0, host);
    t.after(() => server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const found = await Promise.all(["127.0.0.1", "::1"].map((address) => isListening(port, address)));
    assert.deepEqual(found, expected);
    // Connections are accepted in order: a probe's would have come before this one.
    const own = connect(port, host === "::1" ? "::1" : "127.0.0.1").resume();
    await once(own, "end");
    assert.equal(connections, 1);
  });
}
