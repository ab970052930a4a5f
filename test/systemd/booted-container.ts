import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Container } from "./container.ts";

/** The variable that tells the tests the container: the pid of its systemd-nspawn. */
export const CONTAINER_VARIABLE = "TOLLKEEPER_TEST_CONTAINER";

const STOP_LIMIT_MS = 20_000;

/** A running container. */
export interface BootedContainer {
  /** The pid of systemd-nspawn. */
  pid: number;
  /** Powers the container off, and kills it when that takes too long. */
  stop(): Promise<void>;
}

/** Boots the file system at `root`. Returns null when it does not come up, after printing its console output. */
export async function bootContainer(root: string): Promise<BootedContainer | null> {
  // By default, systemd-nspawn forbids containers the kernel's keyrings.
  const flags = [
    "--quiet",
    "--boot",
    "--register=no",
    "--keep-unit",
    "--console=pipe",
    "--system-call-filter=@keyring @clock",
  ];
  const child = spawn("systemd-nspawn", [...flags, `--directory=${root}`, ...nodeMounts(root)], {
    stdio: ["ignore", "pipe", "pipe"],
    // The container gets cgroup v2 whatever this machine uses.
    env: { ...process.env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: "1" },
  });
  const chunks: Buffer[] = [];
  for (const output of [child.stdout, child.stderr]) output.on("data", (chunk: Buffer) => chunks.push(chunk));
  const ended = once(child, "exit");
  const pid = child.pid ?? 0;
  const container = new Container(pid);
  if (await Promise.race([container.isUp(), ended.then(() => false)]))
    return { pid, stop: () => stop(container, child, ended) };
  console.log(Buffer.concat(chunks).toString());
  child.kill("SIGKILL");
  return null;
}

async function stop(container: Container, child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  const killTimer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
  await container.root("systemctl", "poweroff");
  await ended;
  clearTimeout(killTimer);
}

/** Returns options that mount this Node, and those of its libraries that `root` lacks. */
function nodeMounts(root: string): string[] {
  const libraries = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
  const paths = [...libraries.matchAll(/=> (\/\S+)/g)].map(([, path]) => path ?? "");
  const missing = paths.filter((path) => !existsSync(join(root, path)));
  const binds = missing.map((path) => `--bind-ro=${path}`);
  return [`--bind-ro=${process.execPath}:/usr/bin/node`, ...binds];
}

/** Returns the container that this test run has booted. */
export function testContainer(): Container {
  const pid = Number(process.env[CONTAINER_VARIABLE]);
  if (pid > 0) return new Container(pid);
  throw new Error("no container: these tests are run by `npm run test:systemd`");
}
