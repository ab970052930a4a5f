import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { CommandResult } from "../daemon/daemon.ts";
import { runProgram } from "../daemon/run-program.ts";

/** The reason why no managed configuration file can be set up here, for `test(..., { skip })`; false when one can. */
export const noManagedConfig: string | false = reasonToSkip();

/** The managed file's path, as the program has it on Linux. */
export const MANAGED = "/etc/tollkeeper/config.jsonc";

/** Runs what follows with a copy of `/etc` in its place. */
const IN_OWN_ETC = ["unshare", "--mount", "--propagation", "private", "sh", "-c"];
const MOUNT = 'mount --bind "$0" /etc && exec "$@"';

function reasonToSkip(): string | false {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return "needs Linux and root, for a file in a copy of /etc";
  try {
    execFileSync("unshare", ["--mount", "--propagation", "private", "true"], { stdio: "ignore" });
    return false;
  } catch {
    return "needs a mount namespace (unshare of util-linux, CAP_SYS_ADMIN)";
  }
}

/** A machine whose managed configuration file the test writes: programs that it launches see a copy of `/etc`. */
export interface ManagedMachine {
  /** The file as the test sees it. Its programs see it as {@link MANAGED}. */
  file: string;
  directory: string;
  /** For `startDaemon`. */
  launcher: string[];
  write(config: object | string): void;
  /** Runs a tollkeeper command on this machine and waits for its end. */
  command(env: NodeJS.ProcessEnv, ...args: string[]): Promise<CommandResult>;
}

/** Copies of `/etc` that no test uses now. A test file makes one for all its tests, and another for each machine more that a test has. */
const idle: string[] = [];

/** What tests write beside the managed file. */
const ACCOUNTS = ["passwd", "group"];

/** Returns a copy of `/etc` as the system has it, without a managed file. Nothing in it is a link to the file that it is a copy of. */
function takeEtc(t: TestContext): string {
  const etc = idle.pop() ?? copyEtc();
  t.after(() => {
    rmSync(join(etc, "tollkeeper"), { recursive: true, force: true });
    for (const file of ACCOUNTS) copyFileSync(join("/etc", file), join(etc, file));
    idle.push(etc);
  });
  return etc;
}

function copyEtc(): string {
  const scratch = mkdtempSync(join(tmpdir(), "tollkeeper-etc-"));
  process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
  const etc = join(scratch, "etc");
  execFileSync("cp", ["-a", "/etc", etc]);
  rmSync(join(etc, "tollkeeper"), { recursive: true, force: true });
  return etc;
}

/**
 * Prepares such a machine. Without `config` it has no managed file, and no directory for one. Commands on the machines of a test file run
 * in one process, as its machines have the same copy of `/etc`, one after another.
 */
export function managedMachine(t: TestContext, config?: object | string): ManagedMachine {
  const etc = takeEtc(t);
  const directory = join(etc, "tollkeeper");
  const file = join(directory, "config.jsonc");
  const launcher = [...IN_OWN_ETC, MOUNT, etc];
  const write = (value: object | string) => {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value), { mode: 0o644 });
  };
  if (config !== undefined) write(config);
  return { file, directory, launcher, write, command: (env, ...args) => runProgram(args, { env, launcher }) };
}

/** A directory that only root can write to, as can all above it; removed with the test. Needs root. */
export function rootDirectory(t: TestContext): string {
  const directory = mkdtempSync("/var/lib/tollkeeper-");
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
