import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const BORROW = `
  import { borrowToken } from "./src/adapters/control-socket.ts";
  await borrowToken(...process.argv.slice(1));
  console.log("borrowed");`;

/** A process that has borrowed a token and does nothing else. */
export interface Borrower {
  /** Ends it without warning. */
  kill(): void;
}

/** Has the daemon that listens on `path` count the token with this hash, for a process which ends with the test. */
export async function startBorrower(
  t: TestContext,
  path: string,
  { tool, hash }: { tool: string; hash: string },
): Promise<Borrower> {
  const args = ["--import", "tsx", "--input-type=module", "-e", BORROW, path, tool, hash];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const kill = () => void child.kill("SIGKILL");
  t.after(kill);
  await once(createInterface(child.stdout), "line");
  return { kill };
}
