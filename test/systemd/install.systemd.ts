// Installing the service, installing it again, booting, and uninstalling it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { service, UNITS, URL } from "./service.ts";
import { SERVICE_USER } from "./service-user.ts";

const INFO = "6";

before(() => service.removeAll());
after(() => service.removeAll());

/** Returns the exposure level of a unit by its settings, from 0 to 10. */
async function exposureOf(unit: string): Promise<number> {
  const argv = ["systemd-analyze", "--user", "security", "--no-pager", unit];
  const { stdout } = await service.container.user(...argv);
  return Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
}

/** Lists the files and directories of the user, without systemd's own in the runtime directory. */
async function listOwnFiles(): Promise<string[]> {
  const places = [
    SERVICE_USER.home,
    `${SERVICE_USER.runtime}/tollkeeper`,
    `${SERVICE_USER.runtime}/systemd/transient`,
  ];
  const { stdout } = await service.container.root("find", ...places);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}

test("the first install enables and starts the service, which responds on both addresses", async () => {
  const output = await service.mustRun("service", "install");
  assert.match(
    output,
    /is running as a service \(pid \d+\) and listens on 127\.0\.0\.1:8655 and \[::1\]:8655/,
  );
  assert.equal(
    await service.systemctl("is-enabled", "tollkeeper.service", "tollkeeper.socket"),
    "enabled\nenabled\n",
  );
  assert.equal(
    await service.systemctl("is-active", "tollkeeper.service", "tollkeeper.socket"),
    "active\nactive\n",
  );
  assert.equal(await service.requestStatus("127.0.0.1"), 200);
  assert.equal(await service.requestStatus("::1"), 200);
  // In its sandbox, too, the daemon has a command of its own answer the dashboard's questions.
  const { stdout: usage } = await service.container.user("curl", "-s", `${URL}/_tollkeeper/v1/usage`);
  assert.match(usage, /^\{\n {2}"v": 1,/);
  // The sandbox trial has succeeded.
  assert.match(service.container.read(`${UNITS}/tollkeeper.service.d/sandbox.conf`), /^PrivateUsers=yes$/m);
});

test("a second install writes no file and keeps the process", async () => {
  const pid = await service.pid();
  assert.doesNotMatch(await service.mustRun("service", "install"), /wrote|made|removed/);
  assert.equal(await service.pid(), pid);
});

test("`service status` exits 0 and names the pid, and systemctl shows the daemon's own status text", async () => {
  assert.match(await service.mustRun("service", "status"), new RegExp(`running, pid ${await service.pid()}`));
  const shown = await service.systemctl("status", "--no-pager", "tollkeeper.service");
  assert.match(
    shown,
    /Status: "listens on 127\.0\.0\.1:8655 and \[::1\]:8655, the built-in sandbox responds"/,
  );
});

test("the journal has the daemon's lines with identifier and priority, and `service logs` shows them", async () => {
  const ready = (await service.journal()).find(({ MESSAGE }) => MESSAGE?.startsWith("tollkeeper is ready"));
  assert.deepEqual([ready?.["PRIORITY"], ready?.["SYSLOG_IDENTIFIER"]], [INFO, "tollkeeper"]);
  assert.match(await service.mustRun("service", "logs"), /tollkeeper is ready/);
});

/** Returns the status of a request by this user. */
async function statusFor(uid: number): Promise<string> {
  const curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", `${URL}/v1/models`];
  return (await service.container.as(uid, ...curl)).stdout;
}

test("other users of the machine, root included, are refused", async () => {
  for (const uid of [0, 65_534]) assert.equal(await statusFor(uid), "400", `uid ${uid}`);
  assert.equal(await statusFor(SERVICE_USER.uid), "200");
});

test("the daemon asks the kernel on the netlink socket of the socket unit", async () => {
  const pid = await service.pid();
  const hide = ["mount", "--bind", "/mnt", `/proc/${pid}`];
  const { code, stderr } = await service.container.root("nsenter", `--target=${pid}`, "--mount", ...hide);
  assert.equal(code, 0, stderr);
  // Without its tables, and without that socket, the daemon could not tell users apart, and would admit all of them.
  assert.deepEqual([await statusFor(65_534), await statusFor(SERVICE_USER.uid)], ["400", "200"]);
  await service.mustRun("service", "restart");
});

test("with linger the service runs from boot on, without a login", async () => {
  const pid = await service.pid();
  const { code, stderr } = await service.container.root(
    "systemctl",
    "restart",
    `user@${SERVICE_USER.uid}.service`,
  );
  assert.equal(code, 0, stderr);
  await service.nextPid(pid);
  assert.equal(await service.requestStatus("127.0.0.1"), 200);
  assert.equal(await service.requestStatus("::1"), 200);
});

test("uninstall closes the port, leaves only configuration, ledger and what services said of limits, and does nothing when repeated", async () => {
  await service.removeAll();
  const untouched = await listOwnFiles();
  await service.mustRun("service", "install");
  assert.equal(await service.requestStatus(), 200);
  await service.mustRun("service", "uninstall");
  const left = (await listOwnFiles()).filter((path) => !untouched.includes(path));
  // Other services share the unit directory.
  const kept =
    /^\/home\/tk\/\.local\/state(?:\/tollkeeper(?:\/limits\.json|\/ledger(?:\/\d{4}-\d{2}-\d{2}\.ndjson)?)?)?$/;
  assert.deepEqual(
    left.filter((path) => path !== UNITS && !kept.test(path)),
    [],
  );
  assert.equal((await service.ledger()).length, 1);
  for (const host of ["127.0.0.1", "::1"] as const)
    assert.equal(await service.requestStatus(host), "ECONNREFUSED");
  assert.match(await service.systemctl("list-units", "--all", "tollkeeper*"), /0 loaded units/);
  assert.match(await service.mustRun("service", "uninstall"), /nothing to do/);
});

test("systemd-analyze accepts the units and rates them far less exposed than a bare unit", async (t) => {
  await service.mustRun("service", "install");
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
