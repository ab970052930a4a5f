import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";

const NEEDED = ["dbus-daemon", "gnome-keyring-daemon", "busctl", "secret-tool"];
const PASSWORD = "test password of a scratch keyring";
const LOGIN = "/org/freedesktop/secrets/collection/login";

/** Why the real keychain cannot be tested here, for `test(..., { skip })`; false when it can. */
export const noKeyring: string | false = reasonToSkip();

function reasonToSkip(): string | false {
  if (process.platform !== "linux") return "needs Linux: these tests run a Secret Service of their own";
  const missing = NEEDED.filter((tool) => !isInstalled(tool));
  return (
    missing.length > 0 &&
    `not installed: ${missing.join(", ")} (apt-get install gnome-keyring libsecret-tools)`
  );
}

function isInstalled(tool: string): boolean {
  try {
    execFileSync("/bin/sh", ["-c", `command -v ${tool}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A private D-Bus session in a scratch directory, ended with the test. Without a provider until one is started. */
export interface Session {
  directory: string;
  /** What finds this session: for `enter`, or for a child process. */
  env: { HOME: string; XDG_RUNTIME_DIR: string; DBUS_SESSION_BUS_ADDRESS: string };
  /** Starts gnome-keyring with an open login collection; with `--replace` in place of one that runs. */
  startUnlocked(...flags: string[]): Promise<void>;
  /** Starts gnome-keyring as a fresh account has it before the first login. */
  startWithoutCollection(): Promise<void>;
  lock(): Promise<void>;
  /** Stops the provider with SIGSTOP: the bus lives, and nobody answers. */
  freeze(): Promise<void>;
  /** Puts in an item as any other program could. Attributes as names and values in turn. */
  plant(value: string | Buffer, ...attributes: string[]): Promise<void>;
}

/**
 * Starts a session bus with a configuration of its own, which starts no service but one: the prompter of
 * gnome-keyring, which here never shows anything, so that a prompt is one that nobody answers.
 */
export async function startSession(t: TestContext): Promise<Session> {
  const directory = scratchDirectory(t);
  const config = writeBusConfig(directory);
  const bus = spawn("dbus-daemon", ["--nofork", "--print-address", `--config-file=${config}`], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, HOME: directory },
  });
  t.after(() => bus.kill("SIGKILL"));
  const [address] = await once(bus.stdout.setEncoding("utf8"), "data");
  // The prompter inherits this pipe, and would keep the test waiting for its end.
  bus.stdout.destroy();
  const env = {
    HOME: directory,
    XDG_RUNTIME_DIR: join(directory, "run"),
    DBUS_SESSION_BUS_ADDRESS: String(address).trim(),
  };
  return { directory, env, ...provider(t, { ...process.env, ...env }) };
}

function provider(t: TestContext, env: NodeJS.ProcessEnv): Omit<Session, "directory" | "env"> {
  const bus = (...request: string[]) =>
    promisify(execFile)("busctl", ["--user", "--json=short", ...request], { env });
  const start = async (...flags: string[]) => {
    await run("gnome-keyring-daemon", [...flags, "--components=secrets"], env, PASSWORD);
    const pid = await pidOfProvider(bus);
    t.after(() => endProcess(pid));
  };
  return {
    startUnlocked: (...flags) => start("--unlock", ...flags),
    startWithoutCollection: () => start("--start"),
    async lock() {
      const service = [
        "org.freedesktop.secrets",
        "/org/freedesktop/secrets",
        "org.freedesktop.Secret.Service",
      ];
      await bus("call", ...service, "Lock", "ao", "1", LOGIN);
    },
    async freeze() {
      process.kill(await pidOfProvider(bus), "SIGSTOP");
    },
    plant: (value, ...attributes) =>
      run("secret-tool", ["store", "--label=planted", ...attributes], env, value),
  };
}

/** gnome-keyring goes to the background before it has its name on the bus, so ask until it has. */
async function pidOfProvider(bus: (...request: string[]) => Promise<{ stdout: string }>): Promise<number> {
  const dbus = ["org.freedesktop.DBus", "/", "org.freedesktop.DBus"];
  for (;;) {
    const owned = await bus("call", ...dbus, "NameHasOwner", "s", "org.freedesktop.secrets");
    if ((JSON.parse(owned.stdout) as { data: [boolean] }).data[0]) break;
  }
  const { stdout } = await bus("call", ...dbus, "GetConnectionUnixProcessID", "s", "org.freedesktop.secrets");
  return (JSON.parse(stdout) as { data: [number] }).data[0];
}

/** Runs a program to its end with `input` on its standard input. */
async function run(
  file: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  input: string | Buffer,
): Promise<void> {
  const child = spawn(file, args, { env, stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.end(input);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${file} failed with exit code ${code}`);
}

/** SIGKILL ends a frozen process, too. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has gone with its bus.
  }
}

/** A directory that only we may enter, removed with the test. */
export function scratchDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function writeBusConfig(directory: string): string {
  mkdirSync(join(directory, "run"), { mode: 0o700 });
  mkdirSync(join(directory, "services"));
  const prompter = "[D-BUS Service]\nName=org.gnome.keyring.SystemPrompter\nExec=/bin/sleep 30\n";
  writeFileSync(join(directory, "services", "prompter.service"), prompter);
  const config = join(directory, "bus.conf");
  writeFileSync(
    config,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir=${directory}</listen>
  <servicedir>${directory}/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`,
  );
  return config;
}

/** Sets environment variables of this process, or unsets those that are undefined, until the test ends. */
export function enter(t: TestContext, env: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(env)) {
    const before = process.env[name];
    setVariable(name, value);
    t.after(() => setVariable(name, before));
  }
}

function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
