// Where users may not make user namespaces, as on some hardened kernels: the service runs without what needs them.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { service, UNITS } from "./service.ts";
import { USER } from "./user.ts";

const MANAGER = `user@${USER.uid}.service`;
const DROP_IN = `/run/systemd/system/${MANAGER}.d/no-user-namespaces.conf`;

async function restartManager(): Promise<void> {
  for (const words of [["daemon-reload"], ["restart", MANAGER]]) {
    const { code, stderr } = await service.container.root("systemctl", ...words);
    assert.equal(code, 0, stderr);
  }
}

before(async () => {
  await service.removeAll();
  // What it forbids to the user's manager, it forbids to all that this starts.
  service.container.write(DROP_IN, "[Service]\nRestrictNamespaces=~user\n");
  await restartManager();
});
after(async () => {
  await service.removeAll();
  await service.container.root("rm", DROP_IN);
  await restartManager();
});

test("install tries the sandbox once, says that it is left out, and the service runs and answers", async () => {
  const said = await service.done("service", "install");
  assert.match(
    said,
    /the sandbox of sandbox\.conf does not work here, and is left out: this user may make no user namespace$/m,
  );
  assert.equal(existsSync(service.container.path(`${UNITS}/tollkeeper.service.d/sandbox.conf`)), false);
  assert.deepEqual([await service.answer("127.0.0.1"), await service.answer("::1")], [200, 200]);
  assert.match(await service.property("NoNewPrivileges"), /yes/);
});
