// Once installed, it is there: after the second installation, after the next start of the machine, and gone when uninstalled.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { service, UNITS, URL } from "./service.ts";
import { USER } from "./user.ts";

const INFO = "6";

before(() => service.removeAll());
after(() => service.removeAll());

/** From 0 to 10, by the unit's settings. */
async function exposureOf(unit: string): Promise<number> {
  const argv = ["systemd-analyze", "--user", "security", "--no-pager", unit];
  const { stdout } = await service.container.user(...argv);
  return Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
}

/** Every file and directory of the user's, but for what a manager keeps in its runtime directory for itself. */
async function listOwnFiles(): Promise<string[]> {
  const places = [USER.home, `${USER.runtime}/tollkeeper`, `${USER.runtime}/systemd/transient`];
  const { stdout } = await service.container.root("find", ...places);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}

test("install, from nothing: enabled, running, and answers on both addresses", async () => {
  const said = await service.done("service", "install");
  assert.match(said, /runs as a service \(pid \d+\) and listens on 127\.0\.0\.1:8655 and \[::1\]:8655/);
  assert.equal(
    await service.systemctl("is-enabled", "tollkeeper.service", "tollkeeper.socket"),
    "enabled\nenabled\n",
  );
  assert.equal(
    await service.systemctl("is-active", "tollkeeper.service", "tollkeeper.socket"),
    "active\nactive\n",
  );
  assert.equal(await service.answer("127.0.0.1"), 200);
  assert.equal(await service.answer("::1"), 200);
  // The sandbox was tried, and works here.
  assert.match(service.container.read(`${UNITS}/tollkeeper.service.d/sandbox.conf`), /^PrivateUsers=yes$/m);
});

test("installing again changes nothing: the same process, and no file written", async () => {
  const pid = await service.pid();
  assert.doesNotMatch(await service.done("service", "install"), /wrote|made|removed/);
  assert.equal(await service.pid(), pid);
});

test("`service status` exits 0 and names the process; systemd shows what the daemon says of itself", async () => {
  assert.match(await service.done("service", "status"), new RegExp(`running, pid ${await service.pid()}`));
  const shown = await service.systemctl("status", "--no-pager", "tollkeeper.service");
  assert.match(
    shown,
    /Status: "listens on 127\.0\.0\.1:8655 and \[::1\]:8655, the built-in sandbox answers"/,
  );
});

test("its lines are in the journal under its name, told apart by priority, and `service logs` shows them", async () => {
  const ready = (await service.journal()).find(({ MESSAGE }) => MESSAGE?.startsWith("tollkeeper is ready"));
  assert.deepEqual([ready?.["PRIORITY"], ready?.["SYSLOG_IDENTIFIER"]], [INFO, "tollkeeper"]);
  assert.match(await service.done("service", "logs"), /tollkeeper is ready/);
});

test("another user of the machine, root included, gets a refusal and no answer", async () => {
  const curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", `${URL}/v1/models`];
  for (const uid of [0, 65_534])
    assert.equal((await service.container.as(uid, ...curl)).stdout, "403", `uid ${uid}`);
  assert.equal((await service.container.user(...curl)).stdout, "200");
});

test("with linger it is there from the machine's start on, without a login", async () => {
  const pid = await service.pid();
  const { code, stderr } = await service.container.root("systemctl", "restart", `user@${USER.uid}.service`);
  assert.equal(code, 0, stderr);
  await service.nextPid(pid);
  assert.equal(await service.answer("127.0.0.1"), 200);
  assert.equal(await service.answer("::1"), 200);
});

test("uninstall leaves configuration and ledger and nothing else; the port is closed; again, it does nothing", async () => {
  await service.removeAll();
  const untouched = await listOwnFiles();
  await service.done("service", "install");
  assert.equal(await service.answer(), 200);
  await service.done("service", "uninstall");
  const left = (await listOwnFiles()).filter((path) => !untouched.includes(path));
  // The directory for units is everybody's.
  const ledger = /^\/home\/tk\/\.local\/state(?:\/tollkeeper(?:\/ledger(?:\/\d{4}-\d{2}-\d{2}\.ndjson)?)?)?$/;
  assert.deepEqual(
    left.filter((path) => path !== UNITS && !ledger.test(path)),
    [],
  );
  assert.equal((await service.ledger()).length, 1);
  for (const host of ["127.0.0.1", "::1"] as const) assert.equal(await service.answer(host), "ECONNREFUSED");
  assert.match(await service.systemctl("list-units", "--all", "tollkeeper*"), /0 loaded units/);
  assert.match(await service.done("service", "uninstall"), /nothing is to be done/);
});

test("what systemd thinks of it: no word against the units, and how exposed a bare unit and ours are", async (t) => {
  await service.done("service", "install");
  service.ownFile(`${UNITS}/tollkeeper-bare.service`, "[Service]\nExecStart=/usr/bin/node\n");
  await service.systemctl("daemon-reload");
  const [bare, ours] = [await exposureOf("tollkeeper-bare.service"), await exposureOf("tollkeeper.service")];
  t.diagnostic(`exposure by systemd-analyze security: bare ${bare}, ours ${ours}`);
  assert.ok(bare > 9 && ours < 3, `bare ${bare}, ours ${ours}`);
  const verdict = await service.container.user(
    "systemd-analyze",
    "--user",
    "verify",
    "tollkeeper.service",
    "tollkeeper.socket",
  );
  assert.deepEqual(verdict, { code: 0, stdout: "", stderr: "" });
});
