import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const LEASE = `
  import { leaseToken } from "./src/adapters/control-socket.ts";
  await leaseToken(...process.argv.slice(1));
  console.log("leased");`;

/** A process that has leased a token and does nothing else. */
interface LeaseHolder {
  /** Kills it without warning. */
  kill(): void;
}

/** Starts a process that leases the token with this hash from the daemon on `path`. It ends with the test. */
export async function startLeaseHolder(
  t: TestContext,
  path: string,
  { tool, hash }: { tool: string; hash: string },
): Promise<LeaseHolder> {
  const args = ["--import", "tsx", "--input-type=module", "-e", LEASE, path, tool, hash];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const kill = () => void child.kill("SIGKILL");
  t.after(kill);
  await once(createInterface(child.stdout), "line");
  return { kill };
}
