// Conflicts of the service with a manually started daemon, or with another program on its port.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { holdStreams } from "../../helpers/client/many-streams.ts";
import {
  configOption,
  homeWithSystemd,
  noLinux,
  writeInstallation,
  startDaemonBySystemd,
  type ServiceHome,
} from "./service-home.ts";

/** Listens on a port, and writes a configuration that uses the same port. */
async function takenPort(t: TestContext, { home }: ServiceHome) {
  const holder = createServer().listen(0, "127.0.0.1");
  t.after(() => holder.close());
  await once(holder, "listening");
  const { port } = holder.address() as AddressInfo;
  const configFile = join(home, "taken.jsonc");
  writeFileSync(configFile, JSON.stringify({ listen: { port } }));
  return { configFile, taken: new RegExp(`^error: .*port ${port} is taken by pid ${process.pid} `, "m") };
}

test("install is refused while a manually started daemon is running", { skip: noLinux }, async (t) => {
  const daemon = await startDaemon(t);
  const { units, service, commands } = homeWithSystemd(t, {}, daemon.home);
  const { code, stderr } = await service("install", ...configOption(daemon));
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`^error: a daemon that was started by hand is already running: pid ${daemon.pid}, `, "m"),
  );
  assert.match(
    stderr,
    /\nhint: stop it with: tollkeeper service stop\n {6}then: tollkeeper service install\n$/,
  );
  assert.deepEqual([existsSync(units), commands()], [false, []]);
});

test(
  "install names a manually started daemon that is already stopping, and suggests waiting for it",
  { skip: noLinux },
  async (t) => {
    const streams = await holdStreams(t);
    const daemon = await startDaemon(t, { config: streams.config });
    await streams.open(daemon.port, 2);
    process.kill(daemon.pid, "SIGTERM");
    await daemon.waitForOutput(/"msg":"stopping/);
    const { service } = homeWithSystemd(t, {}, daemon.home);
    const { code, stderr } = await service("install", ...configOption(daemon));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^error: .* is stopping: it waits for 2 open requests to finish\nhint: wait for it with: /m,
    );
  },
);

test(
  "install is refused when another program holds the port, and the error names that program",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t);
    const { configFile, taken } = await takenPort(t, home);
    const { code, stderr } = await home.service("install", "--config", configFile);
    assert.equal(code, 1);
    assert.match(stderr, taken);
    assert.equal(existsSync(home.units), false);
  },
);

test(
  "install and restart leave a running service alone when another program holds its new port",
  { skip: noLinux },
  async (t) => {
    const { daemon, port, ...home } = await startDaemonBySystemd(t);
    writeInstallation(home, { configFile: daemon.configFile, port });
    const { configFile, taken } = await takenPort(t, home);
    for (const word of ["install", "restart"]) {
      const { code, stderr } = await home.service(word, "--config", configFile);
      assert.deepEqual([code, home.commands()], [1, []]);
      assert.match(stderr, taken);
      assert.doesNotMatch(stderr, /tollkeeper is not running/);
    }
  },
);
