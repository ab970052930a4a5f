import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { ServiceTarget } from "../../../src/service/service-manager.ts";
import {
  parseSettings,
  readValues,
  parseCommandLine,
  splitWords,
} from "../../../src/service/systemd/unit-syntax.ts";
import {
  renderSandbox,
  renderService,
  renderSocket,
  unitPaths,
} from "../../../src/service/systemd/render-units.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { targetFor } from "./service-target.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Reads a template that the package ships. */
const template = (name: string) => readFileSync(join(root, "systemd", name), "utf8");

const noAnalyze =
  spawnSync("systemd-analyze", ["--version"]).status !== 0 &&
  "systemd-analyze is not installed (Debian: systemd)";

/** Returns what systemd-analyze reports for the unit files: nothing when they are valid. */
function verify(t: TestContext, files: { service: string; socket: string; sandbox: string }): string {
  const directory = scratchDirectory(t);
  const paths = unitPaths(directory);
  mkdirSync(dirname(paths.sandbox));
  for (const name of ["service", "socket", "sandbox"] as const) writeFileSync(paths[name], files[name]);
  const env = { ...process.env, HOME: directory, XDG_RUNTIME_DIR: directory };
  const result = spawnSync("systemd-analyze", ["--user", "verify", paths.service, paths.socket], { env });
  return result.stderr.toString();
}

function render(target: ServiceTarget) {
  return {
    service: renderService(target),
    socket: renderSocket(target.port, { hasIpv6: true }),
    sandbox: renderSandbox(target),
  };
}

test("the service unit has the target's command, and every other setting of the template", () => {
  const target = targetFor();
  const service = renderService(target);
  assert.deepEqual(readValues(service, "ExecStart"), [
    `/usr/bin/node ${target.script} serve --config ${target.configFile}`,
  ]);
  const [ours, shipped] = [service, template("tollkeeper.service")].map((unit) =>
    parseSettings(unit).filter(({ name }) => name !== "ExecStart"),
  );
  assert.deepEqual(ours, shipped);
});

/**
 * Settings for which systemd 254 and later create a user namespace in a user's service, which some kernels refuse:
 * exec_context_need_unprivileged_private_users() in its src/core/exec-invoke.c, and those that need one in any version.
 */
const NEED_NAMESPACE = [
  /^(?:Private(?:Users|Tmp|Devices|Network|IPC|Mounts|PIDs)|(?:Network|IPC)NamespacePath|MountAPIVFS|BindLogSockets)$/,
  /^(?:Bind(?:ReadOnly)?Paths|TemporaryFileSystem|RootDirectory|RootImage|MountImages|Extension(?:Directories|Images))$/,
  /^Protect(?:System|Home|KernelTunables|KernelModules|KernelLogs|ControlGroups|Clock|Hostname|Proc)$|^ProcSubset$/,
  /^(?:ReadWrite|ReadOnly|Inaccessible|Exec|NoExec)Paths$/,
  /^(?:CapabilityBoundingSet|AmbientCapabilities|DynamicUser)$/,
];

/** Returns the names of the settings in [Service] of a template. */
function optionsOf(name: string): string[] {
  return parseSettings(template(name)).flatMap((setting) =>
    setting.section === "Service" ? [setting.name] : [],
  );
}

test("only the drop-in has settings that need a user namespace, and all of its settings do", () => {
  assert.deepEqual(
    optionsOf("tollkeeper.service").filter((name) => NEED_NAMESPACE.some((names) => names.test(name))),
    [],
  );
  assert.deepEqual(
    optionsOf("sandbox.conf").filter((name) => !NEED_NAMESPACE.some((names) => names.test(name))),
    [],
  );
});

test("the service unit names the configuration file and the session's directories", () => {
  const environment = { XDG_CONFIG_HOME: "/home/ada/conf", XDG_STATE_HOME: "/home/ada/100% $x" };
  const service = renderService(targetFor({ configFile: "/etc/t $1.jsonc", environment }));
  const [command = ""] = readValues(service, "ExecStart");
  assert.deepEqual(parseCommandLine(command).slice(2), ["serve", "--config", "/etc/t $1.jsonc"]);
  assert.deepEqual(readValues(service, "Environment").map(splitWords), [
    ["XDG_CONFIG_HOME=/home/ada/conf"],
    ["XDG_STATE_HOME=/home/ada/100% $x"],
  ]);
});

test("the socket unit lists IPv4 first, and IPv6 only where the machine has it", () => {
  assert.deepEqual(readValues(renderSocket(9000, { hasIpv6: true }), "ListenStream"), [
    "127.0.0.1:9000",
    "[::1]:9000",
  ]);
  assert.deepEqual(readValues(renderSocket(9000, { hasIpv6: false }), "ListenStream"), ["127.0.0.1:9000"]);
  const shipped = template("tollkeeper.socket");
  assert.deepEqual(readValues(shipped, "ListenStream"), ["127.0.0.1:8655", "[::1]:8655"]);
});

test("the socket unit has a netlink socket only where the kernel has diagnostics of sockets", () => {
  const [listed, left] = [true, false].map((hasDiagnostics) => renderSocket(9000, { hasDiagnostics }));
  assert.deepEqual(readValues(listed ?? "", "ListenNetlink"), ["inet-diag"]);
  assert.deepEqual(readValues(left ?? "", "ListenNetlink"), []);
});

test("the drop-in makes only the daemon's directories writable", () => {
  const sandbox = renderSandbox(targetFor({ writableDirectories: ["/home/ada/state", "/mnt/le dger%"] }));
  assert.deepEqual(readValues(sandbox, "ReadWritePaths").flatMap(splitWords), [
    "/home/ada/state",
    "/mnt/le dger%",
  ]);
});

test("systemd-analyze accepts the rendered units", { skip: noAnalyze }, (t) => {
  assert.equal(verify(t, render(targetFor({ node: process.execPath }))), "");
});

test("systemd-analyze accepts the templates as they are shipped", { skip: noAnalyze }, (t) => {
  const sandbox = template("sandbox.conf");
  const files = { service: template("tollkeeper.service"), socket: template("tollkeeper.socket"), sandbox };
  assert.equal(verify(t, files), "");
  // Proves that the drop-in is checked as well.
  assert.match(verify(t, { ...files, sandbox: sandbox.replace("PrivateTmp=", "PrivatTmp=") }), /PrivatTmp/);
});

test(
  "systemd-analyze finds a Node whose path has spaces, specifiers, dollars and semicolons",
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

test("the published package contains the unit templates", () => {
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
