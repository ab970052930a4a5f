import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { renderService, renderSocket, type UnitPaths } from "../../../src/service/systemd/render-units.ts";
import { hasSocketDiagnostics } from "../../../src/service/systemd/has-sock-diag.ts";
import { targetFor } from "./service-target.ts";
import { createSystemd, LISTENING, RUNNING, writeUnits, type SystemdState } from "./stub-systemd.ts";

const START = "tollkeeper service start";
const INSTALL = "tollkeeper service install";

/** Creates an installation that is well but for what the state and the drop-ins say. */
function install(t: TestContext, state: SystemdState, dropIns: Record<string, string> = {}) {
  const { systemd, home, paths } = createSystemd(t, state);
  const target = targetFor({ node: process.execPath, script: process.execPath });
  writeUnits(paths, { service: renderService(target), socket: renderSocket(8655), sandbox: "[Service]\n" });
  for (const [name, text] of Object.entries(dropIns)) writeFileSync(dropInPath(paths, name), text);
  return { systemd, home, paths };
}

function dropInPath(paths: UnitPaths, name: string): string {
  return join(dirname(paths.sandbox), `${name}.conf`);
}

function setAside(path: string, next: string): string {
  return `disable it with: mv ${path} ${path}.off; then: ${next}; or correct it`;
}

test("an installation that is well has no problems, whether it runs or not", async (t) => {
  assert.deepEqual(await install(t, {}, { own: "[Service]\nNice=1\n" }).systemd.problems(), []);
  const running = install(t, { service: RUNNING, socket: LISTENING });
  assert.deepEqual(await running.systemd.problems(), []);
});

/** What systemd 252 says, the drop-in at fault, and whether the service cannot start. */
const VERDICTS: [what: string, verdict: string, fault: string, preventsStart: boolean][] = [
  [
    "a second command",
    "tollkeeper.service: Service has more than one ExecStart= setting, which is only allowed for Type=oneshot services. Refusing.",
    "[Service]\nExecStart=/usr/bin/true\n",
    true,
  ],
  [
    "a command that is gone",
    "tollkeeper.service: Command /gone/node is not executable: No such file or directory",
    "[Service]\nExecStart=\nExecStart=/gone/node x serve\n",
    true,
  ],
  [
    "a unit that is not there",
    "tollkeeper.service: Failed to create tollkeeper.service/start: Unit gone.service not found.",
    "[Unit]\nRequires=gone.service\n",
    true,
  ],
  [
    "a setting that systemd does not know",
    "DROP-IN:2: Unknown key 'MemoryMaxx' in section [Service], ignoring.",
    "[Service]\nMemoryMaxx=1\n",
    false,
  ],
];

for (const [what, verdict, text, preventsStart] of VERDICTS) {
  test(`names the drop-in with ${what}, and no other one`, async (t) => {
    for (const service of [{}, RUNNING]) {
      const state: SystemdState = { service, socket: LISTENING };
      const { systemd, paths } = install(t, state, { fault: text, innocent: "[Service]\nNice=1\n" });
      const path = dropInPath(paths, "fault");
      state.verdict = `${verdict.replace("DROP-IN", path)}\nUnit tollkeeper.service has a bad unit file setting.\n`;
      const message = preventsStart
        ? `${path}: ${verdict.replace("tollkeeper.service: ", "")}`
        : verdict.replace("DROP-IN", path);
      const next = service === RUNNING ? "tollkeeper service restart" : START;
      assert.deepEqual(await systemd.problems(), [{ message, fix: setAside(path, next), preventsStart }]);
    }
  });
}

test("a unit of ours that was broken by hand is reinstalled, and what is wrong with other units is left out", async (t) => {
  const verdict = "tollkeeper.service: Service has no ExecStart=, ExecStop=, or SuccessAction=. Refusing.";
  const other = "/usr/lib/systemd/user/other.service:3: Unknown key 'X' in section [Unit], ignoring.";
  const { systemd, paths } = install(t, { verdict: `${verdict}\n` });
  const message = `${paths.service}: ${verdict.replace("tollkeeper.service: ", "")}`;
  assert.deepEqual(await systemd.problems(), [{ message, fix: INSTALL, preventsStart: true }]);
  assert.deepEqual(await install(t, { verdict: `${other}\n` }).systemd.problems(), []);
});

test("a missing Node or script is one problem, whatever systemd says of it", async (t) => {
  const verdict = "tollkeeper.service: Command /gone/node is not executable: No such file or directory\n";
  const { systemd, paths } = install(t, { verdict }, { innocent: "[Service]\nNice=1\n" });
  writeUnits(paths, { service: renderService(targetFor({ node: "/gone/node", script: "/gone/main.js" })) });
  const message = "its Node, /gone/node, and its program, /gone/main.js, no longer exist";
  assert.deepEqual(await systemd.problems(), [{ message, fix: INSTALL, preventsStart: true }]);
});

test("a credential whose file is missing is named with the drop-in that asks for it", async (t) => {
  const { systemd, home, paths } = install(
    t,
    {},
    { key: "[Service]\nLoadCredential=example:%h/.keys/example\n" },
  );
  const file = join(home, ".keys", "example");
  const where = `(LoadCredential= in ${dropInPath(paths, "key")})`;
  assert.deepEqual(await systemd.problems(), [
    {
      message: `credential example cannot be read: ${file} does not exist ${where}`,
      fix: `write the key into ${file}; then: ${START}`,
      preventsStart: true,
    },
  ]);
  mkdirSync(dirname(file));
  writeFileSync(file, "some-key\n", { mode: 0o600 });
  assert.deepEqual(await systemd.problems(), []);
  if (process.getuid?.() === 0) return;
  chmodSync(file, 0);
  assert.match((await systemd.problems())[0]?.fix ?? "", /: chmod u\+r .*example; then: /);
});

test("masked units are the only problem, and are all unmasked by one command", async (t) => {
  const masked = { LoadState: "masked" };
  const { systemd } = install(t, {
    service: masked,
    socket: masked,
    verdict: "tollkeeper.service: masked\n",
  });
  const unmask = "systemctl --user unmask tollkeeper.service tollkeeper.socket";
  const fix = `unmask it with: ${unmask}; then: ${INSTALL}`;
  const message = "tollkeeper.service and tollkeeper.socket are masked";
  assert.deepEqual(await systemd.problems(), [{ message, fix, preventsStart: true }]);
  await assert.rejects(systemd.start(), { message, hint: fix });
});

test("a running service without its socket is a problem that does not prevent a start", async (t) => {
  const { systemd } = install(t, { service: RUNNING });
  const [problem] = await systemd.problems();
  assert.match(
    problem?.message ?? "",
    /^tollkeeper\.socket is not active, .* connections are refused during a restart$/,
  );
  assert.deepEqual([problem?.fix, problem?.preventsStart], [INSTALL, false]);
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);

test("a socket whose addresses are not those of this machine has to be reinstalled", async (t) => {
  const { systemd, paths } = install(t, { service: RUNNING, socket: LISTENING });
  writeUnits(paths, { socket: renderSocket(8655, { hasIpv6: !hasIpv6 }) });
  const [problem] = await systemd.problems();
  assert.match(problem?.message ?? "", /^tollkeeper\.socket (?:cannot|does not) listen on \[::1\]:8655/);
  assert.deepEqual([problem?.fix, problem?.preventsStart], [INSTALL, !hasIpv6]);
});

test("a socket unit whose netlink socket does not fit this kernel has to be reinstalled", async (t) => {
  const { systemd, paths } = install(t, { service: RUNNING, socket: LISTENING });
  const hasDiagnostics = hasSocketDiagnostics();
  writeUnits(paths, { socket: renderSocket(8655, { hasDiagnostics: !hasDiagnostics }) });
  const [problem] = await systemd.problems();
  assert.match(problem?.message ?? "", /^tollkeeper\.socket (?:cannot open its|passes no) netlink socket/);
  assert.deepEqual([problem?.fix, problem?.preventsStart], [INSTALL, !hasDiagnostics]);
});

test("start and restart have systemd read changed files first", async (t) => {
  for (const [verb, service] of [
    ["start", { NeedDaemonReload: "yes" }],
    ["restart", { ...RUNNING, NeedDaemonReload: "yes" }],
  ] as const) {
    const { systemd } = install(t, { service, socket: LISTENING });
    const { steps } = await systemd[verb]();
    const [first] = steps;
    assert.deepEqual(first?.kind === "run" && first.argv, ["systemctl", "--user", "daemon-reload"]);
  }
});

test("the variables of the service are those of systemd and of its unit, which come last", async (t) => {
  const service = { Environment: 'PATH=/x:/y "NODE_OPTIONS=--a b"' };
  const environment = "HOME=/home/ada\nPATH=/usr/bin\nLANG=$'de DE'\n";
  assert.deepEqual(await install(t, { service, environment }).systemd.environment(), {
    HOME: "/home/ada",
    LANG: "de DE",
    PATH: "/x:/y",
    NODE_OPTIONS: "--a b",
  });
});
