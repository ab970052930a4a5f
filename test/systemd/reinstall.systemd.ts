// `service install` over an interrupted or manually changed installation.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, beforeEach, test } from "node:test";
import { sendRequest, createAgent } from "./clients.ts";
import { CONFIG, service, UNITS, URL } from "./service.ts";

beforeEach(() => service.removeAll());
after(() => service.removeAll());

const SERVICE = `${UNITS}/tollkeeper.service`;

test("install after one that was interrupted after writing the unit restarts the old process, once", async () => {
  await service.mustRun("service", "install");
  for (const words of [["true"], ["systemctl", "--user", "daemon-reload"]]) {
    const old = await service.pid();
    await service.container.user("touch", SERVICE);
    await service.container.user(...words);
    await service.mustRun("service", "install");
    const pid = await service.pid();
    assert.notEqual(pid, old);
    await service.mustRun("service", "install");
    assert.equal(await service.pid(), pid);
  }
});

test("install after one that was interrupted after removing the sandbox restarts the sandboxed process", async () => {
  await service.mustRun("service", "install");
  const old = await service.pid();
  await service.container.user("rm", "-r", `${SERVICE}.d`);
  // With a key command there is no sandbox, so that nothing remains to be written or removed.
  const upstream = { baseUrl: "http://127.0.0.1:9/v1", keySource: { command: ["echo", "some-key"] } };
  service.ownFile(CONFIG, JSON.stringify({ upstreams: { default: upstream } }));
  assert.doesNotMatch(await service.mustRun("service", "install"), /wrote|made|removed/);
  assert.notEqual(await service.pid(), old);
});

test("install with a new port moves the socket while the service is stopped", async () => {
  await service.mustRun("service", "install");
  await service.systemctl("stop", "tollkeeper.service");
  service.ownFile(CONFIG, `{ "listen": { "port": 8666 } }`);
  await service.mustRun("service", "install");
  assert.equal(await service.requestStatus(), "ECONNREFUSED");
  assert.equal((await sendRequest(createAgent(), `${URL.replace("8655", "8666")}/v1/models`)).status, 200);
});

test("install leaves a masked unit masked, and succeeds after the unmask command of the hint", async () => {
  await service.systemctl("mask", "tollkeeper.service");
  const refused = await service.tollkeeper("service", "install");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /error: tollkeeper\.service is masked\n/);
  const [, command = ""] = /hint: unmask it with: systemctl --user (.+)\n/.exec(refused.stderr) ?? [];
  assert.equal(existsSync(service.container.path(`${UNITS}/tollkeeper.socket`)), false);
  await service.systemctl(...command.split(" "));
  await service.mustRun("service", "install");
  assert.equal(await service.requestStatus(), 200);
});
