import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const BORROW = `
  import { borrowToken } from "./src/adapters/control-socket.ts";
  console.log((await borrowToken(...process.argv.slice(1))).token);`;

/** A process that has borrowed a token and does nothing else. */
export interface Borrower {
  token: string;
  /** Ends it without warning. */
  kill(): void;
}

/** Borrows a token of the tool's from the daemon that listens on `path`, in a process which ends with the test. */
export async function startBorrower(t: TestContext, path: string, tool: string): Promise<Borrower> {
  const args = ["--import", "tsx", "--input-type=module", "-e", BORROW, path, tool];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const kill = () => void child.kill("SIGKILL");
  t.after(kill);
  const [token] = (await once(createInterface(child.stdout), "line")) as [string];
  return { token, kill };
}
