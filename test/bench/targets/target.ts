import { spawn } from "node:child_process";
import { once } from "node:events";

/** Something that stands between a client and the upstream, as its users would run it. */
export interface Target {
  name: string;
  /** Header lines that requests through it must have. `upstreamPort`: where it is to send them. */
  headers(upstreamPort: number): string[];
  /** What stands before a model's name in requests through it. */
  modelPrefix: string;
  /** Version of what is measured, for the report. null: it is not installed. */
  findVersion(): string | null;
  /** Starts it; it need not listen yet. null: there is nothing to start, the client goes to the upstream itself. */
  launch: ((order: LaunchOrder) => Launched) | null;
}

/** Where and for whom a target is to run. */
export interface LaunchOrder {
  /** Where to listen, on 127.0.0.1. */
  port: number;
  upstreamPort: number;
  /** A directory of its own, empty. */
  directory: string;
  /** Runs the command that is appended to it in its place. */
  launcher: string[];
}

/** A target that runs. */
export interface Launched {
  pid: number;
  /** Ends it; resolves when it is gone. */
  stop(): Promise<void>;
  /** What is wrong with its own account of so many requests, all of which were answered. */
  audit(requests: number): Promise<string[]>;
}

/** What most targets are: they need nothing in requests. */
export const PLAIN = { headers: () => [], modelPrefix: "" } as const;

/** Runs a command whose process is the target. `signal` ends it with its children. */
export function launchCommand(
  argv: readonly string[],
  { env = process.env, signal = "SIGKILL" }: { env?: NodeJS.ProcessEnv; signal?: NodeJS.Signals } = {},
): Launched {
  const [file = "", ...args] = argv;
  const child = spawn(file, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit");
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill(signal);
      await ended;
    },
    audit: () => Promise.resolve([]),
  };
}
