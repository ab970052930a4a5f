import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { Received } from "../../helpers/otlp/otlp-receiver.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const PROGRAM = fileURLToPath(new URL("receiver.ts", import.meta.url));

/** An OTLP receiver in a process of its own. What it has acknowledged survives it. */
export interface ReceiverProcess {
  endpoint: string;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
  /** Starts another one on its port. Resolves once that listens. */
  start(): Promise<void>;
  /** Starts one that is killed when it has kept records and not yet acknowledged them. Resolves to what resolves then. */
  startDoomed(): Promise<{ killed: Promise<void> }>;
  /** Returns every request that one of them has kept. */
  kept(): Received[];
}

/** Starts a receiver. The last one ends with the test. */
export async function startReceiverProcess(t: TestContext): Promise<ReceiverProcess> {
  const directory = scratchDirectory(t);
  const port = await freePort();
  let generation = 0;
  const launch = async (mode = "") => {
    // A file each: what a kill has left of a line is not continued.
    const file = join(directory, `${(generation += 1)}.ndjson`);
    const words = ["--import", "tsx", PROGRAM, file, String(port), mode];
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    const first = await Promise.race([once(child.stdout, "data"), once(child, "exit").then(() => null)]);
    if (first === null) throw new Error("the receiver ended");
    return child;
  };
  let running: ChildProcess = await launch();
  const kill = async () => {
    if (hasEnded(running)) return;
    running.kill("SIGKILL");
    await once(running, "exit");
  };
  t.after(kill);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    kill,
    async start() {
      running = await launch();
    },
    async startDoomed() {
      running = await launch("dies");
      const killed = hasEnded(running) ? Promise.resolve() : once(running, "exit").then(() => {});
      return { killed };
    },
    kept: () => readdirSync(directory).flatMap((name) => readKept(join(directory, name))),
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** A line without an end was not acknowledged. */
function readKept(file: string): Received[] {
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Received);
}
