// `service install` over what an earlier one, or somebody, has left.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, beforeEach, test } from "node:test";
import { ask, clientAgent } from "./clients.ts";
import { CONFIG, service, UNITS, URL } from "./service.ts";

beforeEach(() => service.removeAll());
after(() => service.removeAll());

const SERVICE = `${UNITS}/tollkeeper.service`;

test("one that broke off after it had written: the next one restarts the old process, and the one after that does not", async () => {
  await service.done("service", "install");
  for (const words of [["true"], ["systemctl", "--user", "daemon-reload"]]) {
    const old = await service.pid();
    await service.container.user("touch", SERVICE);
    await service.container.user(...words);
    await service.done("service", "install");
    const pid = await service.pid();
    assert.notEqual(pid, old);
    await service.done("service", "install");
    assert.equal(await service.pid(), pid);
  }
});

test("one that broke off after it had taken the sandbox out: the process that is still in it is restarted", async () => {
  await service.done("service", "install");
  const old = await service.pid();
  await service.container.user("rm", "-r", `${SERVICE}.d`);
  // With this, nothing is left to be written or removed.
  const upstream = { baseUrl: "http://127.0.0.1:9/v1", keySource: { command: ["echo", "some-key"] } };
  service.ownFile(CONFIG, JSON.stringify({ upstreams: { default: upstream } }));
  assert.doesNotMatch(await service.done("service", "install"), /wrote|made|removed/);
  assert.notEqual(await service.pid(), old);
});

test("a new port, while the service is down and systemd listens at the old one", async () => {
  await service.done("service", "install");
  await service.systemctl("stop", "tollkeeper.service");
  service.ownFile(CONFIG, `{ "listen": { "port": 8666 } }`);
  await service.done("service", "install");
  assert.equal(await service.answer(), "ECONNREFUSED");
  assert.equal((await ask(clientAgent(), `${URL.replace("8655", "8666")}/v1/models`)).status, 200);
});

test("a unit that is masked stays masked; unmasked as the hint says, it is installed", async () => {
  await service.systemctl("mask", "tollkeeper.service");
  const refused = await service.tollkeeper("service", "install");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /error: tollkeeper\.service is masked\n/);
  const [, command = ""] = /hint: allow it with: systemctl --user ([^;]+);/.exec(refused.stderr) ?? [];
  assert.equal(existsSync(service.container.path(`${UNITS}/tollkeeper.socket`)), false);
  await service.systemctl(...command.split(" "));
  await service.done("service", "install");
  assert.equal(await service.answer(), 200);
});
