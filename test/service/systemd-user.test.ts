// The service under a real `systemd --user`. `npm run test:systemd` tests it in more depth, in a booted container.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { Agent } from "node:http";
import { test, type TestContext } from "node:test";
import { freePort } from "../helpers/process/free-port.ts";
import { noUserSystemd, startUserSystemd, type UserSystemd } from "../helpers/systemd/user-systemd.ts";
import { sendRequest, LoadClient } from "../systemd/clients.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";

const RESTARTS = 3;

/** Installs the service on a free port with the real command. */
async function install(t: TestContext): Promise<{ systemd: UserSystemd; port: number }> {
  const [systemd, port] = [await startUserSystemd(t), await freePort()];
  systemd.write(`${systemd.home}/.config/tollkeeper/config.jsonc`, JSON.stringify({ listen: { port } }));
  await done(systemd, "install");
  return { systemd, port };
}

/** Runs `tollkeeper service ...`, which must succeed, and returns its output. */
async function done(systemd: UserSystemd, command: string): Promise<string> {
  const { code, stdout, stderr } = await systemd.tollkeeper("service", command);
  assert.equal(code, 0, `service ${command}: ${stdout}${stderr}`);
  return stdout;
}

async function pidOf({ run }: UserSystemd): Promise<number> {
  return Number(
    (await run("systemctl", "--user", "show", "--value", "--property=MainPID", "tollkeeper.service")).stdout,
  );
}

test(
  "install enables and starts the service on both addresses, and a second install keeps its process",
  { skip: noUserSystemd },
  async (t) => {
    const { systemd, port } = await install(t);
    for (const host of ["127.0.0.1", "[::1]"])
      assert.equal((await sendRequest(new Agent(), `http://${host}:${port}/v1/models`)).status, 200);
    assert.match(await done(systemd, "status"), /running, pid \d+: active \(running\)[^]*enabled +yes/);
    const pid = await pidOf(systemd);
    assert.doesNotMatch(await done(systemd, "install"), /wrote|made|removed/);
    assert.equal(await pidOf(systemd), pid);
  },
);

test(
  `${RESTARTS} restarts under load refuse no connection and start a new process each time`,
  { skip: noUserSystemd },
  async (t) => {
    const { systemd, port } = await install(t);
    const client = new LoadClient(new Agent({ keepAlive: false }), `http://127.0.0.1:${port}/v1/models`);
    t.after(() => client.stop());
    const pids = new Set([await pidOf(systemd)]);
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      const { responseCount } = client;
      await waitUntil("answers", () => client.responseCount > responseCount + 10 || null);
      await done(systemd, "restart");
      pids.add(await pidOf(systemd));
    }
    await client.stop();
    assert.deepEqual([client.failures, pids.size], [[], RESTARTS + 1]);
  },
);

test(
  "uninstall removes the units, closes the port and keeps the configuration",
  { skip: noUserSystemd },
  async (t) => {
    const { systemd, port } = await install(t);
    await done(systemd, "uninstall");
    const config = `${systemd.home}/.config`;
    const units = ["tollkeeper.service", "tollkeeper.socket", "tollkeeper.service.d"];
    const left = units.filter((unit) => existsSync(systemd.path(`${config}/systemd/user/${unit}`)));
    assert.deepEqual(left, []);
    assert.ok(existsSync(systemd.path(`${config}/tollkeeper/config.jsonc`)));
    await assert.rejects(sendRequest(new Agent(), `http://127.0.0.1:${port}/v1/models`), /ECONNREFUSED/);
  },
);
