import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { ServiceTarget } from "../../../src/service/service-manager.ts";
import { settingsOf, valuesOf } from "../../../src/service/systemd/unit-file.ts";
import { renderSandbox, renderService, renderSocket, unitPaths } from "../../../src/service/systemd/units.ts";
import { readCommandLine, readWords } from "../../../src/service/systemd/exec-quoting.ts";
import { scratchDirectory } from "../../helpers/keychain/keychain-session.ts";
import { targetFor } from "./target.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A file as it is shipped. */
const template = (name: string) => readFileSync(join(root, "systemd", name), "utf8");

const noAnalyze =
  spawnSync("systemd-analyze", ["--version"]).status !== 0 &&
  "systemd-analyze is not installed (Debian: systemd)";

/** What systemd itself says of unit files: nothing when they are good. */
function verify(t: TestContext, files: { service: string; socket: string; sandbox: string }): string {
  const directory = scratchDirectory(t);
  const paths = unitPaths(directory);
  mkdirSync(dirname(paths.sandbox));
  for (const name of ["service", "socket", "sandbox"] as const) writeFileSync(paths[name], files[name]);
  const env = { ...process.env, HOME: directory, XDG_RUNTIME_DIR: directory };
  const said = spawnSync("systemd-analyze", ["--user", "verify", paths.service, paths.socket], { env });
  return said.stderr.toString();
}

function render(target: ServiceTarget) {
  return {
    service: renderService(target),
    socket: renderSocket(target.port, true),
    sandbox: renderSandbox(target),
  };
}

test("the command is the target's, and everything else is the template's", () => {
  const target = targetFor();
  const service = renderService(target);
  assert.deepEqual(valuesOf(service, "ExecStart"), [
    `/usr/bin/node ${target.script} serve --config ${target.configFile}`,
  ]);
  const [ours, shipped] = [service, template("tollkeeper.service")].map((unit) =>
    settingsOf(unit).filter(({ name }) => name !== "ExecStart"),
  );
  assert.deepEqual(ours, shipped);
});

/**
 * What makes systemd set up a user namespace for a user's service from 254 on, where some kernels refuse that:
 * exec_context_need_unprivileged_private_users() of its src/core/exec-invoke.c, and what needs one in any version.
 */
const NEED_NAMESPACE = [
  /^(?:Private(?:Users|Tmp|Devices|Network|IPC|Mounts|PIDs)|(?:Network|IPC)NamespacePath|MountAPIVFS|BindLogSockets)$/,
  /^(?:Bind(?:ReadOnly)?Paths|TemporaryFileSystem|RootDirectory|RootImage|MountImages|Extension(?:Directories|Images))$/,
  /^Protect(?:System|Home|KernelTunables|KernelModules|KernelLogs|ControlGroups|Clock|Hostname|Proc)$|^ProcSubset$/,
  /^(?:ReadWrite|ReadOnly|Inaccessible|Exec|NoExec)Paths$/,
  /^(?:CapabilityBoundingSet|AmbientCapabilities|DynamicUser)$/,
];

/** What a template sets in [Service]. */
function optionsOf(name: string): string[] {
  return settingsOf(template(name)).flatMap((setting) =>
    setting.section === "Service" ? [setting.name] : [],
  );
}

test("what needs a user namespace stands in the drop-in alone, which can be left out, and all of the drop-in does", () => {
  assert.deepEqual(
    optionsOf("tollkeeper.service").filter((name) => NEED_NAMESPACE.some((names) => names.test(name))),
    [],
  );
  assert.deepEqual(
    optionsOf("sandbox.conf").filter((name) => !NEED_NAMESPACE.some((names) => names.test(name))),
    [],
  );
});

test("a configuration file and the session's own directories go with it", () => {
  const environment = { XDG_CONFIG_HOME: "/home/ada/conf", XDG_STATE_HOME: "/home/ada/100% $x" };
  const service = renderService(targetFor({ configFile: "/etc/t $1.jsonc", environment }));
  const [command = ""] = valuesOf(service, "ExecStart");
  assert.deepEqual(readCommandLine(command).slice(2), ["serve", "--config", "/etc/t $1.jsonc"]);
  assert.deepEqual(valuesOf(service, "Environment").map(readWords), [
    ["XDG_CONFIG_HOME=/home/ada/conf"],
    ["XDG_STATE_HOME=/home/ada/100% $x"],
  ]);
});

test("the socket listens on IPv4 first, and on IPv6 only where the machine has it", () => {
  assert.deepEqual(valuesOf(renderSocket(9000, true), "ListenStream"), ["127.0.0.1:9000", "[::1]:9000"]);
  assert.deepEqual(valuesOf(renderSocket(9000, false), "ListenStream"), ["127.0.0.1:9000"]);
  const shipped = template("tollkeeper.socket");
  assert.deepEqual(valuesOf(shipped, "ListenStream"), ["127.0.0.1:8655", "[::1]:8655"]);
});

test("the sandbox lets the daemon write to its directories, and to nothing else", () => {
  const sandbox = renderSandbox(targetFor({ writable: ["/home/ada/state", "/mnt/le dger%"] }));
  assert.deepEqual(valuesOf(sandbox, "ReadWritePaths").flatMap(readWords), [
    "/home/ada/state",
    "/mnt/le dger%",
  ]);
});

test("systemd finds nothing to complain of in what is installed", { skip: noAnalyze }, (t) => {
  assert.equal(verify(t, render(targetFor({ node: process.execPath }))), "");
});

test("systemd finds nothing to complain of in the templates as they are", { skip: noAnalyze }, (t) => {
  const sandbox = template("sandbox.conf");
  const files = { service: template("tollkeeper.service"), socket: template("tollkeeper.socket"), sandbox };
  assert.equal(verify(t, files), "");
  // It would complain: of the drop-in, too.
  assert.match(verify(t, { ...files, sandbox: sandbox.replace("PrivateTmp=", "PrivatTmp=") }), /PrivatTmp/);
});

test(
  "systemd finds a Node whose path has spaces, specifiers, dollars and semicolons",
  { skip: noAnalyze },
  (t) => {
    const directory = join(scratchDirectory(t), "a b;c 100%h $HOME #d");
    mkdirSync(directory);
    const node = join(directory, "node");
    symlinkSync(process.execPath, node);
    const target = targetFor({ node, script: `${directory}/"main".js`, configFile: `${directory}/it's` });
    assert.equal(verify(t, render(target)), "");
  },
);

test("the package has the templates", () => {
  const listed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(listed) as [{ files: { path: string }[] }];
  const packed = files.map(({ path }) => path).filter((path) => path.startsWith("systemd/"));
  assert.deepEqual(packed.sort(), [
    "systemd/sandbox.conf",
    "systemd/tollkeeper.service",
    "systemd/tollkeeper.socket",
  ]);
});
