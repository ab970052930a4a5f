import { spawn } from "node:child_process";
import { once } from "node:events";

/** A program between client and upstream, run as its users would run it. */
export interface Target {
  name: string;
  /** Header lines that requests through it must have to reach the upstream at this port. */
  headers(upstreamPort: number): string[];
  /** The prefix of a model's name in requests through it. */
  modelPrefix: string;
  /** False for a gateway that does not pass every API on as it is. */
  isTransparent: boolean;
  /** The version for the report; null when it is not installed. */
  findVersion(): string | null;
  /** Starts it, without waiting until it listens. null when the client uses the upstream itself. */
  launch: ((options: LaunchOptions) => Launched) | null;
}

/** Where and how a target is started. */
export interface LaunchOptions {
  /** The port to listen on, on 127.0.0.1. */
  port: number;
  upstreamPort: number;
  /** An empty directory for the target. */
  directory: string;
  /** A command prefix that runs the target on its CPU. */
  launcher: string[];
}

/** A started target. */
export interface Launched {
  pid: number;
  /** Ends it and resolves when it is gone. */
  stop(): Promise<void>;
  /** What its commands need to ask it; null for a target without commands. */
  commands: Promise<CommandContext> | null;
  /** Lists what is wrong with its own record of so many completed requests. */
  audit(requests: number): Promise<string[]>;
}

/** The environment and configuration file of a daemon's commands. */
export interface CommandContext {
  env: NodeJS.ProcessEnv;
  configFile: string;
}

/** For targets that need nothing special in requests. */
export const NO_REQUIREMENTS = { headers: () => [], modelPrefix: "", isTransparent: true } as const;

/** Runs a command as the target. `signal` ends it and its children. */
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
    commands: null,
    audit: () => Promise.resolve([]),
  };
}
