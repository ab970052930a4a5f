import type { NamedCommand } from "./command-words.ts";

/** What is to run as a service. Every path is absolute. */
export interface ServiceTarget {
  /** Node's executable, by a path that survives upgrades where there is one. */
  node: string;
  /** This program's main.js. */
  script: string;
  /** Also where it is the default one: a service does not look for it as the person's own session does. */
  configFile: string;
  /** Where it listens on both loopback addresses. */
  port: number;
  /** How long open streams get at a stop, in milliseconds. */
  drainMs: number;
  /** Directories that the daemon writes to: they are there before it starts. */
  writable: string[];
  /** Files that the configuration names, and that the daemon trusts as its user's own, there or not: authorities, keys. */
  reads: string[];
  /** Where the daemon keeps its log when the service manager keeps none. */
  logFile: string;
  /** Variables of the person's own session that say where state and sockets are; a service starts without them. */
  environment: Record<string, string>;
  /** Are there keys that commands print (`keySource`)? Such commands, gpg for one, may want to write in the home directory. */
  runsKeyCommands: boolean;
  /**
   * Settings in force that come to nothing in a user namespace, where others' processes are not seen and other users not told
   * apart: `ledger.project`, `access.peerUid`.
   */
  blindedSettings: string[];
}

/** One thing that is done to the system: data, so that `--dry-run` can show it. */
export type Step =
  /** A file that says this already stays as it is. */
  | { kind: "write"; path: string; text: string; mode: number }
  | { kind: "make-directory"; path: string; mode: number }
  /** A file, or a directory when nothing is in it. What is not there is fine. */
  | { kind: "remove"; path: string }
  /**
   * Runs a command to see whether `what`, which may be left out, works here.
   * `exitCodes`: what those mean with which the command ends without a word.
   */
  | {
      kind: "try";
      what: string;
      argv: readonly string[];
      exitCodes: Readonly<Record<number, string>>;
      onSuccess: Step[];
      onFailure: Step[];
    }
  /**
   * `tolerates`: what the command says on standard error when it fails because it is done already.
   * `repeats`: what it says, on either output, while something else has to come to its end first: it is run again then,
   * up to a limit. How it ended the last time counts.
   * `ifChanged`: only when a step before it has written or removed something.
   */
  | {
      kind: "run";
      argv: readonly string[];
      ifChanged?: true;
      tolerates?: RegExp;
      repeats?: { while: RegExp; limitMs: number };
    };

/** How a program ended, and what it said; code 127 where there is no such program, as in a shell. */
export interface ProgramResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program by its name on PATH, without a shell, until it ends. Never rejects. */
export type RunProgram = (argv: readonly string[]) => Promise<ProgramResult>;

/** What a service manager knows of the service; its command as the definition names it, all null when it is not installed. */
export interface ServiceState extends NamedCommand {
  /** Its files, absolute; those that are there. */
  files: string[];
  isInstalled: boolean;
  /** Does it start at login? */
  isEnabled: boolean;
  isRunning: boolean;
  /** Did its last start, or its last run, end badly? Not when somebody has stopped it. */
  hasFailed: boolean;
  pid: number | null;
  /** Does the manager itself listen for it (socket activation), also while it does not run? */
  holdsPort: boolean;
  /** Is it there without a login, too (linger)? null where there is no such choice, or the system does not tell. */
  outlivesLogin: boolean | null;
  /** As its definition names it. */
  port: number | null;
  /** How long its definition lets open streams finish at a stop, in milliseconds; null where it does not limit that. */
  drainMs: number | null;
  /** The manager's own words, e.g. `active (running)` or `failed (watchdog)`. */
  detail: string;
}

/** The steps of a command, and what the person should know of them. */
export interface Plan {
  steps: Step[];
  /** One sentence each, e.g. what was left out and why. */
  notes: string[];
}

/** Where a log begins to count: at a time, in milliseconds since 1970, or at the last start, whether that succeeded or not. */
export type LogStart = number | "last start";

/** systemd or launchd, behind the same words. */
export interface ServiceManager {
  readonly name: "systemd" | "launchd";
  /** Idempotent, like all of them: what is as it should be stays. */
  install(target: ServiceTarget): Promise<Plan>;
  /** Leaves configuration and ledger. */
  uninstall(): Promise<Plan>;
  start(): Promise<Plan>;
  stop(): Promise<Plan>;
  restart(): Promise<Plan>;
  state(): Promise<ServiceState>;
  /**
   * The newest lines of the service's log, oldest first; empty when there is none. Lines from before `since` are left
   * out as far as it can be told when a line was written.
   */
  lastLines(count: number, since?: LogStart): Promise<string[]>;
  /** The command that shows the log on a terminal. */
  logsCommand(options: { lines: number; follow: boolean }): string[];
}
