// What stands where the service is to be: a daemon that was started by hand, or another program on the port.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { holdStreams } from "../../helpers/client/many-streams.ts";
import {
  fromConfig,
  homeWithSystemd,
  noLinux,
  putInstallation,
  startedBySystemd,
  type ServiceHome,
} from "./commands.ts";

/** A port on which this process listens, and a configuration with it. */
async function takenPort(t: TestContext, { home }: ServiceHome) {
  const holder = createServer().listen(0, "127.0.0.1");
  t.after(() => holder.close());
  await once(holder, "listening");
  const { port } = holder.address() as AddressInfo;
  const configFile = join(home, "taken.jsonc");
  writeFileSync(configFile, JSON.stringify({ listen: { port } }));
  return { configFile, taken: new RegExp(`^error: .*port ${port} is taken by pid ${process.pid} `, "m") };
}

test("beside a daemon that was started by hand nothing is installed", { skip: noLinux }, async (t) => {
  const daemon = await startDaemon(t);
  const { units, service, orders } = homeWithSystemd(t, {}, daemon.home);
  const { code, stderr } = await service("install", ...fromConfig(daemon));
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`^error: a daemon that was started by hand runs already: pid ${daemon.pid}, `, "m"),
  );
  assert.match(stderr, /\nhint: stop it with: tollkeeper service stop; then: tollkeeper service install\n$/);
  assert.deepEqual([existsSync(units), orders()], [false, []]);
});

test("one that is stopping already is waited for, not stopped once more", { skip: noLinux }, async (t) => {
  const streams = await holdStreams(t);
  const daemon = await startDaemon(t, { config: streams.config });
  await streams.open(daemon.port, 2);
  process.kill(daemon.pid, "SIGTERM");
  await daemon.until(/"msg":"stopping/);
  const { service } = homeWithSystemd(t, {}, daemon.home);
  const { code, stderr } = await service("install", ...fromConfig(daemon));
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: .* is stopping: 2 open exchanges may finish first\nhint: wait for it with: /m,
  );
});

test(
  "on a port that another program has nothing is installed, and that is named",
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

test("a service that runs goes on when its new port is another program's", { skip: noLinux }, async (t) => {
  const { daemon, port, ...home } = await startedBySystemd(t);
  putInstallation(home, { configFile: daemon.configFile, port });
  const { configFile, taken } = await takenPort(t, home);
  for (const word of ["install", "restart"]) {
    const { code, stderr } = await home.service(word, "--config", configFile);
    assert.deepEqual([code, home.orders()], [1, []]);
    assert.match(stderr, taken);
    assert.doesNotMatch(stderr, /tollkeeper is not running/);
  }
});
