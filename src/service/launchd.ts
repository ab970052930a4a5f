import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../core/failure.ts";
import { LABEL, parseAgent, readLauncher, renderAgent, startupLogFile } from "./launchd/agent.ts";
import { Launchctl } from "./launchd/launchctl.ts";
import { readLastLines } from "./launchd/log-lines.ts";
import { findProtectedFiles } from "./launchd/protected-folders.ts";
import { missingProgramProblems } from "./missing-program.ts";
import type { RunProgram } from "./run-program.ts";
import type { PathProbes } from "./stable-paths.ts";
import type {
  LogStart,
  Plan,
  ServiceManager,
  ServiceProblem,
  ServiceState,
  ServiceTarget,
  Step,
} from "./service-manager.ts";

/** launchd's default for ExitTimeOut (launchd.plist(5)). */
const DEFAULT_EXIT_MS = 20_000;

/** The PATH of agents (launchd.plist(5), confstr(3)). */
const DEFAULT_PATH = "/usr/bin:/bin:/usr/sbin:/sbin";

const KEYCHAIN_NOTE =
  'macOS lets only the Node that stored a key read it; after an upgrade of Node it may ask once: choose "Always Allow"; if it still asks again: tollkeeper key remove, then: tollkeeper key set';

/** Returns the daemon's log file on macOS. */
export function launchdLogFile(home: string): string {
  return join(home, "Library", "Logs", "tollkeeper", "tollkeeper.log");
}

/** Returns the script that starts the daemon on macOS. */
export function launchdLauncher(home: string): string {
  return join(home, "Library", "Application Support", "tollkeeper", LABEL);
}

/** Returns those of the files that macOS closes to services, unless someone has allowed it, and what to do about each. */
export function findLaunchdClosedFiles(
  paths: readonly string[],
  probes: PathProbes,
): { message: string; fix: string }[] {
  return findProtectedFiles(paths, probes).map(({ path, folder }) => ({
    message: `macOS does not let services access ${folder}, which contains ${path}`,
    fix: "move it elsewhere, then type: tollkeeper service install --config FILE",
  }));
}

/** Those of the login session that matter: to Node, to the search for programs, and to what tools send. */
const VARIABLES = [
  "PATH",
  "NODE_OPTIONS",
  "NODE_DEBUG",
  ..."HTTP_PROXY http_proxy HTTPS_PROXY https_proxy ALL_PROXY all_proxy NO_PROXY no_proxy".split(" "),
];

/**
 * A launchd user agent in the domain of the graphical login session, where the keychain is unlocked. Follows launchctl(1)
 * and launchd.plist(5) and, where those are silent, reports from real systems.
 */
export class Launchd implements ServiceManager {
  readonly name = "launchd";
  readonly #launchctl: Launchctl;
  readonly #file: string;
  readonly #launcher: string;
  readonly #logFile: string;

  constructor({ uid, home, run }: { uid: number; home: string; run: RunProgram }) {
    this.#launchctl = new Launchctl(uid, run);
    this.#file = join(home, "Library", "LaunchAgents", `${LABEL}.plist`);
    this.#launcher = launchdLauncher(home);
    this.#logFile = launchdLogFile(home);
  }

  async install(target: ServiceTarget): Promise<Plan> {
    await this.#requireLaunchd("tollkeeper service install");
    const text = renderAgent(target);
    const { writableDirectories, logFile, launcher } = target;
    const ownDirectories = new Set([...writableDirectories, dirname(logFile), dirname(launcher)]);
    const preparation: Step[] = [
      ...Array.from(ownDirectories, (path): Step => ({ kind: "make-directory", path, mode: 0o700 })),
      { kind: "make-directory", path: dirname(this.#file), mode: 0o755 },
      { kind: "write", path: launcher, text: readLauncher(), mode: 0o755 },
    ];
    const isChanged = text !== (await this.#readFile());
    const write: Step = { kind: "write", path: this.#file, text, mode: 0o644 };
    // Unloading comes first, so that an interrupted installation still finds a changed definition the next time.
    const steps = isChanged
      ? [...(await this.#unloadSteps()), write, this.#launchctl.loadStep(this.#file)]
      : await this.#startSteps();
    return { steps: [...preparation, ...steps], notes: [KEYCHAIN_NOTE] };
  }

  async uninstall(): Promise<Plan> {
    const logs = dirname(this.#logFile);
    return {
      steps: [
        ...(await this.#unloadSteps()),
        { kind: "remove", path: this.#file },
        { kind: "remove", path: this.#launcher },
      ],
      notes: existsSync(logs) ? [`the logs stay in ${logs}`] : [],
    };
  }

  async start(): Promise<Plan> {
    await this.#requireStartable("tollkeeper service start");
    return { steps: await this.#startSteps(), notes: [] };
  }

  async stop(): Promise<Plan> {
    const steps = await this.#unloadSteps();
    const note = "it starts again at the next login, or with: tollkeeper service start";
    return { steps, notes: steps.length > 0 ? [note] : [] };
  }

  async restart(): Promise<Plan> {
    await this.#requireStartable("tollkeeper service restart");
    const isRunning = typeof (await this.#launchctl.findJob())?.pid === "number";
    const steps = isRunning ? this.#launchctl.restartSteps(await this.#exitMs()) : await this.#startSteps();
    return { steps, notes: [] };
  }

  async state(): Promise<ServiceState> {
    const [text, job] = [await this.#readFile(), await this.#launchctl.findJob()];
    const isDisabled = await this.#launchctl.isDisabled();
    const agent = parseAgent(text ?? "");
    return {
      files: [this.#file, this.#launcher].filter((path) => existsSync(path)),
      isInstalled: text !== null,
      isEnabled: text !== null && !isDisabled,
      isRunning: typeof job?.pid === "number",
      hasFailed: job?.hasFailed ?? false,
      pid: job?.pid ?? null,
      // The daemon listens itself: launchd passes sockets only through a C function (launch_activate_socket(3)).
      holdsPort: false,
      outlivesLogin: null,
      node: agent?.node ?? null,
      script: agent?.script ?? null,
      configFile: agent?.configFile ?? null,
      port: null,
      drainMs: agent?.drainMs ?? null,
      detail: job?.detail ?? (await this.#whyNotLoaded(text !== null, isDisabled)),
    };
  }

  async problems(): Promise<ServiceProblem[]> {
    const agent = parseAgent((await this.#readFile()) ?? "");
    return agent === null ? [] : missingProgramProblems(agent);
  }

  findChanges(): Promise<string[]> {
    return Promise.resolve([]);
  }

  async environment(): Promise<Record<string, string>> {
    const inherited = await this.#launchctl.getVariables(VARIABLES);
    return { PATH: DEFAULT_PATH, ...inherited };
  }

  unsetCommand(names: readonly string[]): string[] {
    return ["launchctl", "unsetenv", ...names];
  }

  /** launchd does not report when it last started a service, so "last start" means any time. */
  lastLines(count: number, since: LogStart = "last start"): Promise<string[]> {
    const sinceMs = since === "last start" ? 0 : since;
    const startupLog = startupLogFile(this.#logFile);
    return readLastLines([this.#logFile, `${startupLog}.1`, startupLog], count, sinceMs);
  }

  logsCommand({ lines, follow }: { lines: number; follow: boolean }): string[] {
    // -F rather than -f, because the daemon rotates its log.
    return ["tail", "-n", String(lines), ...(follow ? ["-F"] : []), this.#logFile];
  }

  /** Returns the steps that start the installed service; none when it is running. */
  async #startSteps(): Promise<Step[]> {
    const job = await this.#launchctl.findJob();
    if (job === null) return [this.#launchctl.loadStep(this.#file)];
    return job.pid === null ? [this.#launchctl.kickstartStep()] : [];
  }

  async #unloadSteps(): Promise<Step[]> {
    const isLoaded = (await this.#launchctl.findJob()) !== null;
    return isLoaded ? this.#launchctl.unloadSteps(await this.#exitMs()) : [];
  }

  /** Returns how long the installed daemon may take to exit. */
  async #exitMs(): Promise<number> {
    return parseAgent((await this.#readFile()) ?? "")?.exitMs ?? DEFAULT_EXIT_MS;
  }

  async #readFile(): Promise<string | null> {
    return readFile(this.#file, "utf8").catch(() => null);
  }

  /** @throws Failure when the service is not installed, or launchd would refuse to load it */
  async #requireStartable(command: string): Promise<void> {
    if ((await this.#readFile()) !== null) return this.#requireLaunchd(command);
    throw new Failure("the service is not installed", "type: tollkeeper service install");
  }

  /** @throws Failure where launchd would refuse to load the service, which it explains with a bare error number */
  async #requireLaunchd(command: string): Promise<void> {
    const { domain, service } = this.#launchctl;
    if (!(await this.#launchctl.hasSession())) {
      throw new Failure(
        `launchd has no ${domain}: you have no graphical login session on this Mac`,
        `log in at its screen, then type, without sudo: ${command}; with ssh only, run: tollkeeper serve`,
      );
    }
    if (!(await this.#launchctl.isDisabled())) return;
    throw new Failure(
      "tollkeeper has been disabled, with launchctl or in System Settings, Login Items",
      `enable it with: launchctl enable ${service}; then type: ${command}`,
    );
  }

  async #whyNotLoaded(isInstalled: boolean, isDisabled: boolean): Promise<string> {
    if (!isInstalled) return "not installed";
    if (isDisabled) return "disabled in launchd";
    return (await this.#launchctl.hasSession()) ? "stopped" : "no user is logged in to a graphical session";
  }
}
