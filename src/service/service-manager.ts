import type { ServiceCommand } from "./service-command.ts";

/** What to run as a service. All paths are absolute. */
export interface ServiceTarget {
  /** Node's executable, by a path that survives upgrades where one exists. */
  node: string;
  /** This program's main.js. */
  script: string;
  /** Always given, even when it is the default: a service does not see the variables that locate the default one. */
  configFile: string;
  /** The port on both loopback addresses; 0 for a free one. */
  port: number;
  /** How long open streams may take to finish at a stop, in milliseconds. */
  drainMs: number;
  /** Directories that the daemon writes to. They must exist before it starts. */
  writableDirectories: string[];
  /** Files named in the configuration that the daemon accepts only from its own user: CA and key files. May be missing. */
  trustedFiles: string[];
  /** The daemon's log file, for a service manager that keeps no log. */
  logFile: string;
  /** Where a script that starts the daemon goes, for a service manager that does not limit the size of its log. */
  launcher: string;
  /** Variables of the user's session that locate state and sockets. A service does not inherit them. */
  environment: Record<string, string>;
  /** True when commands print keys (`keySource`). Some of them, such as gpg, write to the home directory. */
  runsKeyCommands: boolean;
  /** Settings in use that cannot work in a user namespace, which hides other users: `ledger.project`, `access.peerUid`. */
  sandboxIncompatibleSettings: string[];
}

/** One change to the system, as data so that `--dry-run` can show it. */
export type Step =
  /** Does nothing when the file already has this text. */
  | { kind: "write"; path: string; text: string; mode: number }
  | { kind: "make-directory"; path: string; mode: number }
  /** Removes a file or an empty directory, if there is one. */
  | { kind: "remove"; path: string }
  /** Finds out whether the optional `what` works here. `exitCodes` explains failures that print nothing. */
  | {
      kind: "try";
      what: string;
      argv: readonly string[];
      exitCodes: Readonly<Record<number, string>>;
      onSuccess: Step[];
      onFailure: Step[];
    }
  | {
      kind: "run";
      argv: readonly string[];
      /** Skips the command unless an earlier step has written or removed something. */
      ifChanged?: true;
      /** Matches what the command prints on standard error when its work is already done, which is no failure. */
      tolerates?: RegExp;
      /** What to type when it fails with output that matches. */
      explains?: { output: RegExp; hint: string };
      /** Runs the command again while its output, of either kind, matches, up to the limit. The last result counts. */
      repeats?: { while: RegExp; limitMs: number };
    };

/** Something wrong with the service's definition that starting it again does not fix. */
export interface ServiceProblem {
  /** Names the file, and what is wrong with it. */
  message: string;
  /** The command that fixes it. */
  fix: string;
  /** True when the service cannot start like this; one that is already running may continue. */
  preventsStart: boolean;
}

/** What a service manager knows about the service. The fields of its command are null when it is not installed. */
export interface ServiceState extends ServiceCommand {
  /** Those of its files that exist, absolute. */
  files: string[];
  isInstalled: boolean;
  /** True when it starts at login. */
  isEnabled: boolean;
  isRunning: boolean;
  /** True when its last start or run failed. A deliberate stop is no failure. */
  hasFailed: boolean;
  pid: number | null;
  /** True when the manager itself holds the listening sockets (socket activation), even while the daemon is down. */
  holdsPort: boolean;
  /** True when it also runs without a login (linger); null if there is no such choice, or it is unknown. */
  outlivesLogin: boolean | null;
  /** The port in its definition. */
  port: number | null;
  /** The drain limit in its definition, in milliseconds; null when the definition sets none. */
  drainMs: number | null;
  /** The manager's own description, e.g. `active (running)` or `failed (watchdog)`. */
  detail: string;
}

/** The steps of a command, and what the user should know about them. */
export interface Plan {
  steps: Step[];
  /** One sentence each, e.g. what was left out and why. */
  notes: string[];
}

/** The earliest log lines of interest: a time in milliseconds since 1970, or the last start, successful or not. */
export type LogStart = number | "last start";

/** systemd or launchd. The plans are idempotent: they leave alone what is already as it should be. */
export interface ServiceManager {
  readonly name: "systemd" | "launchd";
  install(target: ServiceTarget): Promise<Plan>;
  /** Keeps configuration and ledger. */
  uninstall(): Promise<Plan>;
  start(): Promise<Plan>;
  stop(): Promise<Plan>;
  restart(): Promise<Plan>;
  state(): Promise<ServiceState>;
  /** Returns what is wrong with the definition, what prevents a start first. */
  problems(): Promise<ServiceProblem[]>;
  /** Returns the user's own files that change the definition, as far as their text matches; absolute. */
  findChanges(text: RegExp): Promise<string[]>;
  /** Returns the variables with which it starts the service, as far as they are known. */
  environment(): Promise<Record<string, string>>;
  /** Returns the command that takes variables back from what it starts. */
  unsetCommand(names: readonly string[]): string[];
  /** Returns the newest lines of the log, oldest first; none without a log. Omits those known to be older than `since`. */
  lastLines(count: number, since?: LogStart): Promise<string[]>;
  /** Returns the command that shows the log on a terminal. */
  logsCommand(options: { lines: number; follow: boolean }): string[];
}
