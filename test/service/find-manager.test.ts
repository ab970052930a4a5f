import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../src/core/failure.ts";
import { findServiceManager, type ServiceHost } from "../../src/service/find-manager.ts";
import type { ProgramResult } from "../../src/service/run-program.ts";
import { targetFor } from "./systemd/service-target.ts";

const NO_BUS: ProgramResult = {
  code: 1,
  stdout: "",
  stderr: "Failed to connect to bus: No medium found\n",
};
const NOT_FOUND: ProgramResult = { code: 127, stdout: "", stderr: "systemctl: not found" };
const REACHED: ProgramResult = {
  code: 0,
  stdout:
    "UnitPath=/home/ada l/.config/systemd/user.control /run/user/7/systemd/user.control /run/user/7/systemd/transient /home/ada l/.config/systemd/user /etc/systemd/user\n",
  stderr: "",
};

const reached = () => Promise.resolve(REACHED);

/** A Linux system with systemd as init. */
const LINUX: ServiceHost = {
  platform: "linux",
  env: { XDG_RUNTIME_DIR: "/run/user/7" },
  uid: 7,
  userName: "ada",
  home: "/home/ada l",
  exists: (path) => ["/run/systemd/system", "/run/user/7"].includes(path),
};

/** Returns the failure on a host without a usable service manager. */
async function findFailure(host: Partial<ServiceHost>, result: ProgramResult): Promise<Failure> {
  const found = findServiceManager({ ...LINUX, ...host }, () => Promise.resolve(result));
  const failure = await found.then(
    () => assert.fail("one was found"),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof Failure);
  return failure;
}

test("the service manager is the user's systemd on Linux and launchd on macOS", async () => {
  assert.equal((await findServiceManager(LINUX, reached)).name, "systemd");
  assert.equal((await findServiceManager({ ...LINUX, platform: "darwin" }, reached)).name, "launchd");
});

test("units are written to the user's own directory in systemd's UnitPath, even with a space in its name", async () => {
  const manager = await findServiceManager(LINUX, reached);
  const { steps } = await manager.install(targetFor({ runsKeyCommands: true }));
  const written = steps.flatMap((step) => (step.kind === "write" ? [step.path] : []));
  assert.deepEqual(written, [
    "/home/ada l/.config/systemd/user/tollkeeper.service",
    "/home/ada l/.config/systemd/user/tollkeeper.socket",
  ]);
});

test("says how to set XDG_RUNTIME_DIR when it is missing, as after su", async () => {
  const { message, hint } = await findFailure({ env: {} }, NO_BUS);
  assert.match(message, /^the systemd of ada cannot be reached: XDG_RUNTIME_DIR is not set/);
  assert.match(hint ?? "", /export XDG_RUNTIME_DIR=\/run\/user\/7$/);
});

test("refuses an XDG_RUNTIME_DIR that differs from the service's, where the control socket would not be found", async () => {
  for (const [given, expected] of [
    [undefined, /it is not set, as after su or sudo -u$/],
    ["/mnt/wslg/runtime-dir", /it is \/mnt\/wslg\/runtime-dir$/],
  ] as const) {
    const { message, hint } = await findFailure(
      { env: given === undefined ? {} : { XDG_RUNTIME_DIR: given } },
      REACHED,
    );
    assert.match(message, expected);
    assert.equal(hint, "set it with: export XDG_RUNTIME_DIR=/run/user/7");
  }
  const same = { ...LINUX, env: { XDG_RUNTIME_DIR: "/run/user/7/" } };
  assert.equal((await findServiceManager(same, reached)).name, "systemd");
});

test("reports a systemctl that does not respond like systemd", async () => {
  const { message, hint } = await findFailure({}, { code: 0, stdout: "", stderr: "" });
  assert.match(message, /does not behave like systemd's/);
  assert.match(hint ?? "", /tollkeeper serve$/);
});

test("suggests logging in or enabling linger to a user whose systemd is not running", async () => {
  const { message, hint } = await findFailure(
    { env: {}, exists: (path) => path === "/run/systemd/system" },
    NO_BUS,
  );
  assert.match(message, /ada has not logged in$/);
  assert.match(hint ?? "", /machinectl shell ada@.*loginctl enable-linger ada/);
});

test("reports a bus that cannot be reached in systemd's own words", async () => {
  assert.match((await findFailure({}, NO_BUS)).message, /Failed to connect to bus: No medium found$/);
});

test("refuses to run under sudo before it queries systemd", async () => {
  const { message, hint } = await findFailure({ uid: 0, env: { SUDO_USER: "ada" } }, REACHED);
  assert.match(message, /you are root \(sudo\)/);
  assert.match(hint ?? "", /without sudo/);
});

const ELSEWHERE: { where: string; host: Partial<ServiceHost>; message: RegExp; hint: RegExp }[] = [
  { where: "Windows", host: { platform: "win32" }, message: /Windows/, hint: /Task Scheduler.*serve$/ },
  {
    where: "WSL without systemd",
    host: { env: { WSL_DISTRO_NAME: "Debian" }, exists: () => false },
    message: /WSL runs without systemd/,
    hint: /systemd=true.*wsl --shutdown/,
  },
  {
    where: "a container",
    host: { exists: (path) => path === "/.dockerenv" },
    message: /container/,
    hint: /^start it with: tollkeeper serve; or make this the container's command: tollkeeper serve$/,
  },
  {
    where: "OpenRC",
    host: { exists: () => false },
    message: /systemd is not running/,
    hint: /OpenRC.*serve$/,
  },
  {
    where: "FreeBSD",
    host: { platform: "freebsd", exists: () => false },
    message: /systemd is not running/,
    hint: /serve$/,
  },
];

for (const { where, host, message, hint } of ELSEWHERE) {
  test(`on ${where} the error says that there is no service manager and what to use instead`, async () => {
    for (const result of [NOT_FOUND, ...(host.exists === undefined ? [] : [NO_BUS])]) {
      const failure = await findFailure(host, result);
      assert.match(failure.message, message);
      assert.match(failure.hint ?? "", hint);
    }
  });
}
