import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { portTaken } from "../../src/daemon/port-holder.ts";
import { Failure } from "../../src/core/failure.ts";

/** Listens on the address of its first argument, says the port, and stays. */
const HOLDER = `require("node:net").createServer().listen(0, process.argv[1], function () {
  console.log(this.address().port);
});`;

for (const address of ["127.0.0.1", "::1", "::"]) {
  test(`a port that another process holds on ${address} names its pid and command`, async (t) => {
    const holder = spawn(process.execPath, ["-e", HOLDER, address], { stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => holder.kill("SIGKILL"));
    const [said] = (await once(holder.stdout, "data")) as [Buffer];
    const failure = portTaken(Number(said), new Error("taken"));
    assert.ok(failure instanceof Failure);
    assert.match(
      failure.message,
      new RegExp(`^port ${Number(said)} is taken by pid ${holder.pid} \\(.*node`),
    );
  });
}

test("the hint says how to look, and how to take another port", () => {
  const { hint } = portTaken(8655, new Error("taken"));
  assert.match(hint ?? "", /(?:ss|lsof) .*8655.*tollkeeper config edit$/);
});

test("a connection from that port, to somewhere else, does not hold it", async (t) => {
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
  const [said] = (await once(client.stdout, "data")) as [Buffer];
  assert.match(portTaken(Number(said), new Error("taken")).message, /is taken by another program$/);
});
