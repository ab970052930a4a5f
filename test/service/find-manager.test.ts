import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../src/core/failure.ts";
import { findServiceManager, type HostInfo } from "../../src/service/find-manager.ts";
import type { ProgramResult } from "../../src/service/service-manager.ts";
import { targetFor } from "./systemd/target.ts";

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

/** A Linux on which systemd is the first process. */
const LINUX: HostInfo = {
  platform: "linux",
  env: { XDG_RUNTIME_DIR: "/run/user/7" },
  uid: 7,
  userName: "ada",
  home: "/home/ada l",
  exists: (path) => ["/run/systemd/system", "/run/user/7"].includes(path),
};

/** What is said where no service manager can be had. */
async function refusal(here: Partial<HostInfo>, answer: ProgramResult): Promise<Failure> {
  const found = findServiceManager({ ...LINUX, ...here }, () => Promise.resolve(answer));
  const failure = await found.then(
    () => assert.fail("one was found"),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof Failure);
  return failure;
}

test("on Linux it is the user's systemd, and on macOS launchd", async () => {
  assert.equal((await findServiceManager(LINUX, reached)).name, "systemd");
  assert.equal((await findServiceManager({ ...LINUX, platform: "darwin" }, reached)).name, "launchd");
});

test("units go where this user's systemd looks for the user's own, also with a space in the path", async () => {
  const manager = await findServiceManager(LINUX, reached);
  const { steps } = await manager.install(targetFor({ runsKeyCommands: true }));
  const written = steps.flatMap((step) => (step.kind === "write" ? [step.path] : []));
  assert.deepEqual(written, [
    "/home/ada l/.config/systemd/user/tollkeeper.service",
    "/home/ada l/.config/systemd/user/tollkeeper.socket",
  ]);
});

test("after su, where XDG_RUNTIME_DIR is not set, it is said how to set it", async () => {
  const { message, hint } = await refusal({ env: {} }, NO_BUS);
  assert.match(message, /^the systemd of ada cannot be reached: XDG_RUNTIME_DIR is not set/);
  assert.match(hint ?? "", /export XDG_RUNTIME_DIR=\/run\/user\/7$/);
});

test("another XDG_RUNTIME_DIR than the service's is refused: its control socket would not be found", async () => {
  for (const [given, told] of [
    [undefined, /it is not set, as after su or sudo -u$/],
    ["/mnt/wslg/runtime-dir", /it is \/mnt\/wslg\/runtime-dir$/],
  ] as const) {
    const { message, hint } = await refusal(
      { env: given === undefined ? {} : { XDG_RUNTIME_DIR: given } },
      REACHED,
    );
    assert.match(message, told);
    assert.equal(hint, "set it with: export XDG_RUNTIME_DIR=/run/user/7");
  }
  const same = { ...LINUX, env: { XDG_RUNTIME_DIR: "/run/user/7/" } };
  assert.equal((await findServiceManager(same, reached)).name, "systemd");
});

test("what answers as systemctl, and not as systemd does, is told as that", async () => {
  const { message, hint } = await refusal({}, { code: 0, stdout: "", stderr: "" });
  assert.match(message, /not as systemd does/);
  assert.match(hint ?? "", /tollkeeper serve$/);
});

test("a user who is not logged in, and does not linger, is told of both", async () => {
  const { message, hint } = await refusal(
    { env: {}, exists: (path) => path === "/run/systemd/system" },
    NO_BUS,
  );
  assert.match(message, /ada has not logged in$/);
  assert.match(hint ?? "", /machinectl shell ada@.*loginctl enable-linger ada/);
});

test("a bus that does not answer is told in systemd's own words", async () => {
  assert.match((await refusal({}, NO_BUS)).message, /Failed to connect to bus: No medium found$/);
});

test("root by sudo is told to do without, before anything is asked", async () => {
  const { message, hint } = await refusal({ uid: 0, env: { SUDO_USER: "ada" } }, REACHED);
  assert.match(message, /this is root, by sudo/);
  assert.match(hint ?? "", /without sudo/);
});

const ELSEWHERE: { where: string; here: Partial<HostInfo>; message: RegExp; hint: RegExp }[] = [
  { where: "Windows", here: { platform: "win32" }, message: /Windows/, hint: /Task Scheduler.*serve$/ },
  {
    where: "WSL without systemd",
    here: { env: { WSL_DISTRO_NAME: "Debian" }, exists: () => false },
    message: /WSL runs without systemd/,
    hint: /systemd=true.*wsl --shutdown/,
  },
  {
    where: "a container",
    here: { exists: (path) => path === "/.dockerenv" },
    message: /container/,
    hint: /the container's command: tollkeeper serve$/,
  },
  { where: "OpenRC", here: { exists: () => false }, message: /no systemd/, hint: /OpenRC.*serve$/ },
  {
    where: "FreeBSD",
    here: { platform: "freebsd", exists: () => false },
    message: /no systemd/,
    hint: /serve$/,
  },
];

for (const { where, here, message, hint } of ELSEWHERE) {
  test(`on ${where} it is said that there is no service, and what to use instead`, async () => {
    for (const answer of [NOT_FOUND, ...(here.exists === undefined ? [] : [NO_BUS])]) {
      const failure = await refusal(here, answer);
      assert.match(failure.message, message);
      assert.match(failure.hint ?? "", hint);
    }
  });
}
