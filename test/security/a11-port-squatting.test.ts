// A11, port squatting: when the port is taken on either loopback address the start fails and names the holder. tollkeeper never moves
// to another port by itself, and `status` tells our daemon from another program.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { listen } from "../../src/proxy/client/listener.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { startGate } from "../helpers/gate/gate.ts";

/** Listens on one loopback address in this process and leaves the other one free. */
async function squat(t: TestContext, address: string) {
  const squatter = { port: 0, received: "" };
  const server = createServer((socket) => {
    socket.on("data", (bytes) => (squatter.received += bytes.toString("latin1")));
    socket.on("error", () => {});
  });
  server.listen({ host: address, port: 0, ipv6Only: true });
  t.after(() => server.close());
  await once(server, "listening");
  squatter.port = (server.address() as AddressInfo).port;
  return squatter;
}

/** A daemon that starts although it should not would run forever. */
const LIMIT = { timeout: 300_000 };

test(
  "serve fails on a port that another program has on one loopback address, and both serve and status name that program",
  LIMIT,
  async (t) => {
    const daemon = await startDaemon(t);
    assert.equal(await daemon.stop(), 0);
    for (const address of ["127.0.0.1", "::1"]) {
      const squatter = await squat(t, address);
      writeFileSync(daemon.configFile, JSON.stringify({ listen: { port: squatter.port } }));
      const [serve, status] = await Promise.all([daemon.command("serve"), daemon.command("status")]);
      assert.deepEqual([serve.code, serve.stdout, status.code, status.stdout], [1, "", 1, ""]);
      const holder = `port ${squatter.port} is taken by pid ${process.pid} \\(.*node.*\\)`;
      assert.match(serve.stderr, new RegExp(`^error: ${holder}\nhint: .*\n.*tollkeeper config edit\n$`));
      const usurped = `error: tollkeeper is not running, and its ${holder}, which receives what tools send`;
      assert.match(status.stderr, new RegExp(`^${usurped}\nhint: .*\n.*tollkeeper config edit\n$`));
      assert.equal(squatter.received, "");
    }
  },
);

test("a listener that gets only one of the two addresses closes it again", async (t) => {
  const { gate } = await startGate(t, "http://127.0.0.1:1/v1");
  const { port } = await squat(t, "::1");
  await assert.rejects(listen(port, gate), { code: "EADDRINUSE" });
  const probe = connect(port, "127.0.0.1");
  await assert.rejects(once(probe, "connect"), { code: "ECONNREFUSED" });
});

test("a daemon that is configured to a taken port reports who has it and keeps its own", async (t) => {
  const daemon = await startDaemon(t);
  const { port } = await squat(t, "::1");
  writeFileSync(daemon.configFile, JSON.stringify({ listen: { port } }));
  const holder = `port ${port} is taken by pid ${process.pid} `;
  await daemon.waitForOutput(
    new RegExp(`still using the old one: .*: ${holder}.*; .*tollkeeper config edit"`),
  );
  assert.equal((await fetch(`${daemon.url}/v1/models`)).status, 200);
  const status = await daemon.status();
  assert.deepEqual(status.listening, [`127.0.0.1:${daemon.port}`, `[::1]:${daemon.port}`]);
  assert.deepEqual([status.config.problems.length, status.config.problems[0]?.path], [1, ""]);
  assert.match(status.config.problems[0]?.message ?? "", new RegExp(`^${holder}`));
});
