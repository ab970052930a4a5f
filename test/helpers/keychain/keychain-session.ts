import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { SCHEMA, SERVICE } from "../../../src/adapters/keychain/protocol.ts";
import { isInstalled } from "../../run/debian-packages.ts";
import { waitUntil } from "../async/wait-until.ts";
import { scratchDirectory } from "../process/scratch-directory.ts";
import { setEnvironment } from "../process/set-environment.ts";

const NEEDED = ["dbus-daemon", "gnome-keyring-daemon", "busctl", "secret-tool"];
/** The password of the keyrings that these sessions start unlocked. */
export const PASSWORD = "test password of a scratch keyring";
const PROVIDER = "org.freedesktop.secrets";
const LOGIN = "/org/freedesktop/secrets/collection/login";

/** The reason why no real keychain can run here, for `test(..., { skip })`; false when one can. */
export const noKeyring: string | false = reasonToSkip();

function reasonToSkip(): string | false {
  if (process.platform !== "linux") return "needs Linux: these tests run a Secret Service of their own";
  const missing = NEEDED.filter((tool) => !isInstalled(tool));
  return (
    missing.length > 0 &&
    `not installed: ${missing.join(", ")} (apt-get install gnome-keyring libsecret-tools)`
  );
}

/** A private D-Bus session in a scratch directory, which ends with the test. It has no keychain until one is started. */
export interface KeychainSession {
  directory: string;
  /** Variables that locate this session: for `setEnvironment`, or for a child process. */
  env: { HOME: string; XDG_RUNTIME_DIR: string; DBUS_SESSION_BUS_ADDRESS: string };
  /** The part of `env` for a program with another home. */
  busEnv: { DBUS_SESSION_BUS_ADDRESS: string };
  /** Starts gnome-keyring with an unlocked login collection; the flag `--replace` replaces a running one. */
  startUnlocked(...flags: string[]): Promise<void>;
  /** Starts gnome-keyring as in a new account before its first login. */
  startWithoutCollection(): Promise<void>;
  lock(): Promise<void>;
  /** Stops the provider with SIGSTOP: the bus works, but nothing replies. */
  freeze(): Promise<void>;
  /** Stores an item as another program could. `attributes` are names and values in turn. */
  storeItem(value: string | Buffer, ...attributes: string[]): Promise<void>;
  /** Stores the key of the upstream `default` at `origin`, as tollkeeper would. */
  storeKey(key: string, origin: string): Promise<void>;
}

/**
 * Starts a session bus that can start one service only: a stand-in for gnome-keyring's prompter that never shows anything,
 * so that no prompt is ever answered.
 */
export async function startSession(t: TestContext): Promise<KeychainSession> {
  const directory = scratchDirectory(t);
  const config = writeBusConfig(directory);
  const bus = spawn("dbus-daemon", ["--nofork", "--print-address", `--config-file=${config}`], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, HOME: directory },
  });
  t.after(() => bus.kill("SIGKILL"));
  const [address] = await once(bus.stdout.setEncoding("utf8"), "data");
  // The prompter inherits this pipe and would keep the test process alive.
  bus.stdout.destroy();
  const busEnv = { DBUS_SESSION_BUS_ADDRESS: String(address).trim() };
  const env = { HOME: directory, XDG_RUNTIME_DIR: join(directory, "run"), ...busEnv };
  return { directory, env, busEnv, ...provider(t, { ...process.env, ...env }) };
}

/** Starts a session whose keychain is unlocked. */
export async function startUnlockedSession(t: TestContext): Promise<KeychainSession> {
  const session = await startSession(t);
  await session.startUnlocked();
  return session;
}

/** Starts a session whose keychain is unlocked, and makes it this process's session until the test ends. */
export async function useUnlockedKeychain(t: TestContext): Promise<KeychainSession> {
  const session = await startUnlockedSession(t);
  setEnvironment(t, session.env);
  return session;
}

function provider(
  t: TestContext,
  env: NodeJS.ProcessEnv,
): Omit<KeychainSession, "directory" | "env" | "busEnv"> {
  const bus = (...request: string[]) =>
    promisify(execFile)("busctl", ["--user", "--json=short", ...request], { env });
  const start = async (...flags: string[]) => {
    // One that is replaced may still have the name for a moment: a test would speak to it while it ends.
    const replaced = flags.includes("--replace") ? await findProvider(bus) : null;
    await run("gnome-keyring-daemon", [...flags, "--components=secrets"], env, PASSWORD);
    const pid = await pidOfProvider(bus, replaced);
    t.after(() => endProcess(pid, env["DBUS_SESSION_BUS_ADDRESS"] ?? ""));
  };
  const storeItem: KeychainSession["storeItem"] = (value, ...attributes) =>
    run("secret-tool", ["store", "--label=planted", ...attributes], env, value);
  return {
    startUnlocked: (...flags) => start("--unlock", ...flags),
    startWithoutCollection: () => start("--start"),
    async lock() {
      const lock = ["/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "Lock", "ao", "1", LOGIN];
      const isLocked = [LOGIN, "org.freedesktop.Secret.Collection", "Locked"];
      // gnome-keyring replies before it has locked, or without: once in a thousand times a key was read after its reply.
      await waitUntil("a locked keyring", async () => {
        await bus("call", PROVIDER, ...lock);
        const { stdout } = await bus("get-property", PROVIDER, ...isLocked);
        return (JSON.parse(stdout) as { data: boolean }).data || null;
      });
    },
    async freeze() {
      process.kill(await pidOfProvider(bus), "SIGSTOP");
    },
    storeItem,
    storeKey: (key, origin) =>
      storeItem(key, "xdg:schema", SCHEMA, "service", SERVICE, "account", `default@${origin}`),
  };
}

type Bus = (...request: string[]) => Promise<{ stdout: string }>;

/** Returns the process that provides the keychain on the bus; null without one. */
async function findProvider(bus: Bus): Promise<number | null> {
  const dbus = ["org.freedesktop.DBus", "/", "org.freedesktop.DBus"];
  try {
    const { stdout } = await bus("call", ...dbus, "GetConnectionUnixProcessID", "s", PROVIDER);
    return (JSON.parse(stdout) as { data: [number] }).data[0];
  } catch {
    return null;
  }
}

/** Polls the bus, because gnome-keyring goes to the background before it owns its name. `replaced` is the process that may own it until then. */
async function pidOfProvider(bus: Bus, replaced: number | null = null): Promise<number> {
  return waitUntil("gnome-keyring on the bus", async () => {
    const pid = await findProvider(bus);
    return pid === replaced ? null : pid;
  });
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

/** Ends the process if it still is the provider on that bus: it may have ended with the bus, and another have its number by now. */
function endProcess(pid: number, bus: string): void {
  try {
    if (readFileSync(`/proc/${pid}/environ`, "utf8").includes(bus)) process.kill(pid, "SIGKILL");
  } catch {
    // It ended with its bus.
  }
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
