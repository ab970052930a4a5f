import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";

// Needs the real kernel: mounts and attributes of files.

const TEXT = '{ "model": "opus" }\n';

function prepare(t: TestContext) {
  const machine = prepareHome(t, { config: { listen: { port: 4711 } } });
  const settings = join(machine.home, ".claude", "settings.json");
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(settings, TEXT);
  return { ...machine, settings };
}

function reasonToSkip(program: string, ...args: string[]): string | false {
  if (process.platform !== "linux") return "needs Linux";
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return false;
  } catch {
    return `this user cannot use ${program} here (needs root)`;
  }
}

const noMounts = reasonToSkip("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt");

test(
  "settings and configuration that are mounted by themselves, as in containers, are changed and restored in place",
  { skip: noMounts },
  (t) => {
    const { home, env, settings, configFile } = prepare(t);
    const config = readFileSync(configFile, "utf8");
    const tollkeeper = `'${process.execPath}' '${PROGRAM}'`;
    const script = `set -e
    cp '${settings}' '${home}/a'; cp '${configFile}' '${home}/b'; chmod 600 '${home}/b'
    mount --bind '${home}/a' '${settings}'; mount --bind '${home}/b' '${configFile}'
    ${tollkeeper} connect claude-code --yes --config '${configFile}' >&2
    cat '${settings}'; echo ==
    ${tollkeeper} config set listen.port 4712 --config '${configFile}' >&2
    cat '${configFile}'; echo ==
    ${tollkeeper} disconnect claude-code --yes --config '${configFile}' >&2
    cat '${settings}'`;
    const stdio = ["ignore", "pipe", "ignore"] as const;
    const output = execFileSync("unshare", ["--mount", "sh", "-c", script], {
      env,
      encoding: "utf8",
      stdio: [...stdio],
    });
    const [connected = "", changed = "", restored] = output.split("==\n");
    assert.match(connected, /"ANTHROPIC_BASE_URL": "http:\/\/127\.0\.0\.1:4711\/t\/claude-code"/);
    assert.equal(changed.trimEnd(), config.replace("4711", "4712"));
    assert.equal(restored, TEXT);
    assert.deepEqual(readdirSync(dirname(settings)), ["settings.json"]);
  },
);

test(
  "a settings file on a file system that is read-only stays as it is, and the command says how it is mounted",
  { skip: noMounts },
  (t) => {
    const { env, settings, configFile } = prepare(t);
    const script = `mount --bind '${settings}' '${settings}' && mount -o remount,ro,bind '${settings}' &&
    '${process.execPath}' '${PROGRAM}' connect claude-code --yes --config '${configFile}' 2>&1 >/dev/null; exit 0`;
    const shown = execFileSync("unshare", ["--mount", "sh", "-c", script], { env, encoding: "utf8" });
    assert.equal(
      shown,
      `error: cannot change ${settings}: the file system is read-only\nhint: to see how it is mounted, type: findmnt -T ${settings}\n`,
    );
    assert.equal(readFileSync(settings, "utf8"), TEXT);
  },
);

for (const [what, pick] of [
  ["file", (settings: string) => settings],
  ["directory", (settings: string) => dirname(settings)],
] as const) {
  test(`a ${what} that is locked by chattr is named with the command that unlocks it`, async (t) => {
    const { env, settings, configFile } = prepare(t);
    const locked = pick(settings);
    const noLock = reasonToSkip("chattr", "+i", locked);
    if (noLock !== false) return t.skip(noLock);
    const words = ["connect", "claude-code", "--yes", "--config", configFile];
    const { code, stderr } = await runProgram(words, { env }).finally(() =>
      execFileSync("chattr", ["-i", locked]),
    );
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(
        `^error: cannot change ${settings}: the system does not allow it\nhint: sudo chattr -i ${locked}\n`,
        "m",
      ),
    );
    assert.equal(readFileSync(settings, "utf8"), TEXT);
  });
}

const noLowPort =
  process.getuid?.() !== 0 && "needs root, to give a daemon to a user who may not listen on low ports";

test(
  "a port that only root may listen on is named, with a command that sets another",
  { skip: noLowPort },
  (t) => {
    const { home, configFile, env } = prepareHome(t, { config: { listen: { port: 80 } } });
    chmodSync(configFile, 0o600);
    execFileSync("chown", ["-R", "65534:65534", home]);
    // A container lets everyone listen there.
    const script = `echo 1024 > /proc/sys/net/ipv4/ip_unprivileged_port_start && ip link set lo up &&
    exec setpriv --reuid=65534 --regid=65534 --clear-groups '${process.execPath}' '${PROGRAM}' serve --config '${configFile}'`;
    let shown = "";
    try {
      execFileSync("unshare", ["--net", "sh", "-c", script], { env, encoding: "utf8", stdio: "pipe" });
    } catch (error) {
      shown = String((error as { stderr: unknown }).stderr);
    }
    assert.match(
      shown,
      /^error: cannot listen on 127\.0\.0\.1:80: only root may listen on such a low port\nhint: choose a port from 1024 on: tollkeeper config set listen\.port 8655$/m,
    );
  },
);
