// The service where users may not create user namespaces, as on some hardened kernels.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { service, UNITS } from "./service.ts";
import { SERVICE_USER } from "./service-user.ts";

const MANAGER = `user@${SERVICE_USER.uid}.service`;
const DROP_IN = `/run/systemd/system/${MANAGER}.d/no-user-namespaces.conf`;

async function restartManager(): Promise<void> {
  for (const words of [["daemon-reload"], ["restart", MANAGER]]) {
    const { code, stderr } = await service.container.root("systemctl", ...words);
    assert.equal(code, 0, stderr);
  }
}

before(async () => {
  await service.removeAll();
  // The restriction also applies to everything that the user's systemd starts.
  service.container.write(DROP_IN, "[Service]\nRestrictNamespaces=~user\n");
  await restartManager();
});
after(async () => {
  await service.removeAll();
  await service.container.root("rm", DROP_IN);
  await restartManager();
});

test("install without user namespaces says that the sandbox is left out, and the service runs without it", async () => {
  const output = await service.mustRun("service", "install");
  assert.match(
    output,
    /the sandbox of sandbox\.conf does not work on this system and is left out: this user may not create user namespaces$/m,
  );
  assert.equal(existsSync(service.container.path(`${UNITS}/tollkeeper.service.d/sandbox.conf`)), false);
  assert.deepEqual(
    [await service.requestStatus("127.0.0.1"), await service.requestStatus("::1")],
    [200, 200],
  );
  assert.match(await service.property("NoNewPrivileges"), /yes/);
});
