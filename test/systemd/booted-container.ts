import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Container } from "./container.ts";

/** By this variable the tests find the container: the pid of its systemd-nspawn. */
export const CONTAINER_VARIABLE = "TOLLKEEPER_TEST_CONTAINER";

const STOP_LIMIT_MS = 20_000;

/** A container that runs. */
export interface BootedContainer {
  /** Of systemd-nspawn. */
  pid: number;
  /** As a machine is switched off; without waiting for long. */
  stop(): Promise<void>;
}

/** Boots the file system at `root` (facts/platform.md 2.1). null when it does not come up; what it said is printed then. */
export async function bootContainer(root: string): Promise<BootedContainer | null> {
  // The kernel's keyrings are forbidden to containers unless asked for.
  const flags = [
    "--quiet",
    "--boot",
    "--register=no",
    "--keep-unit",
    "--console=pipe",
    "--system-call-filter=@keyring @clock",
  ];
  const child = spawn("systemd-nspawn", [...flags, `--directory=${root}`, ...nodeFor(root)], {
    stdio: ["ignore", "pipe", "pipe"],
    // Whatever this machine has, the container gets cgroup v2.
    env: { ...process.env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: "1" },
  });
  const said: Buffer[] = [];
  for (const output of [child.stdout, child.stderr]) output.on("data", (piece: Buffer) => said.push(piece));
  const ended = once(child, "exit");
  const pid = child.pid ?? 0;
  const container = new Container(pid);
  if (await Promise.race([container.isUp(), ended.then(() => false)]))
    return { pid, stop: () => stop(container, child, ended) };
  console.log(Buffer.concat(said).toString());
  child.kill("SIGKILL");
  return null;
}

async function stop(container: Container, child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  const patience = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
  await container.root("systemctl", "poweroff");
  await ended;
  clearTimeout(patience);
}

/** This very Node, and those of its libraries that `root` lacks, at the same places in there. */
function nodeFor(root: string): string[] {
  const libraries = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
  const paths = [...libraries.matchAll(/=> (\/\S+)/g)].map(([, path]) => path ?? "");
  const missing = paths.filter((path) => !existsSync(join(root, path)));
  const binds = missing.map((path) => `--bind-ro=${path}`);
  return [`--bind-ro=${process.execPath}:/usr/bin/node`, ...binds];
}

/** The container that the tests were started in. */
export function testContainer(): Container {
  const pid = Number(process.env[CONTAINER_VARIABLE]);
  if (pid > 0) return new Container(pid);
  throw new Error("no container: these tests are run by `npm run test:systemd`");
}
