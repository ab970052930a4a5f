import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../core/failure.ts";
import type {
  LogStart,
  Plan,
  RunProgram,
  ServiceManager,
  ServiceState,
  ServiceTarget,
  Step,
} from "./service-manager.ts";
import { LABEL, readAgent, renderAgent, startLogFile } from "./launchd/agent.ts";
import { Launchctl } from "./launchd/launchctl.ts";
import { lastLinesOf } from "./launchd/log-lines.ts";
import { drainAndKickstart, kickstart, load, unload } from "./launchd/steps.ts";

/** Whose service it is. */
export interface LaunchdOwner {
  uid: number;
  /** Home directory, absolute. */
  home: string;
  run: RunProgram;
}

/** What launchd takes where a definition names no ExitTimeOut (launchd.plist(5)). */
const USUAL_EXIT_MS = 20_000;

const KEYCHAIN_NOTE =
  'macOS lets the Node that stored a key read it; after an upgrade of Node it may ask once: choose "Always Allow"';

/** Where the daemon keeps its log on macOS. */
export function launchdLogFile(home: string): string {
  return join(home, "Library", "Logs", "tollkeeper", "tollkeeper.log");
}

/**
 * A launchd agent of a user, in the domain of the login at the screen, where the keychain is open. By launchctl(1) and
 * launchd.plist(5); where those are silent, by what people have reported of real systems.
 */
export class Launchd implements ServiceManager {
  readonly name = "launchd";
  readonly #launchctl: Launchctl;
  readonly #file: string;
  readonly #logFile: string;

  constructor({ uid, home, run }: LaunchdOwner) {
    this.#launchctl = new Launchctl(uid, run);
    this.#file = join(home, "Library", "LaunchAgents", `${LABEL}.plist`);
    this.#logFile = launchdLogFile(home);
  }

  async install(target: ServiceTarget): Promise<Plan> {
    await this.#requireLaunchd("tollkeeper service install");
    const text = renderAgent(target);
    const directories: Step[] = [
      ...target.writable.map((path): Step => ({ kind: "make-directory", path, mode: 0o700 })),
      { kind: "make-directory", path: dirname(target.logFile), mode: 0o700 },
      { kind: "make-directory", path: dirname(this.#file), mode: 0o755 },
    ];
    const isChanged = text !== (await this.#readFile());
    const write: Step = { kind: "write", path: this.#file, text, mode: 0o644 };
    // The old one goes first: broken off in between, the next try still sees that there is something to do.
    const steps = isChanged
      ? [...(await this.#unload()), write, load(this.#launchctl, this.#file)]
      : await this.#run();
    return { steps: [...directories, ...steps], notes: [KEYCHAIN_NOTE] };
  }

  async uninstall(): Promise<Plan> {
    const logs = dirname(this.#logFile);
    return {
      steps: [...(await this.#unload()), { kind: "remove", path: this.#file }],
      notes: existsSync(logs) ? [`the logs stay in ${logs}`] : [],
    };
  }

  async start(): Promise<Plan> {
    await this.#requireInstalled();
    await this.#requireLaunchd("tollkeeper service start");
    return { steps: await this.#run(), notes: [] };
  }

  async stop(): Promise<Plan> {
    const steps = await this.#unload();
    const note = "it starts again at the next login, or with: tollkeeper service start";
    return { steps, notes: steps.length > 0 ? [note] : [] };
  }

  async restart(): Promise<Plan> {
    await this.#requireInstalled();
    await this.#requireLaunchd("tollkeeper service restart");
    const isRunning = typeof (await this.#launchctl.job())?.pid === "number";
    if (!isRunning) return { steps: await this.#run(), notes: [] };
    return { steps: drainAndKickstart(this.#launchctl, await this.#exitMs()), notes: [] };
  }

  async state(): Promise<ServiceState> {
    const [text, job] = [await this.#readFile(), await this.#launchctl.job()];
    const isDisabled = await this.#launchctl.isDisabled();
    const agent = text === null ? null : readAgent(text);
    return {
      files: text === null ? [] : [this.#file],
      isInstalled: text !== null,
      isEnabled: text !== null && !isDisabled,
      isRunning: typeof job?.pid === "number",
      hasFailed: job?.hasFailed ?? false,
      pid: job?.pid ?? null,
      // The daemon itself listens: only a call in C would hand it launchd's sockets (launch_activate_socket(3)).
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

  /** launchd does not tell when it last started a service: since then is since ever. */
  lastLines(count: number, since: LogStart = "last start"): Promise<string[]> {
    const sinceMs = since === "last start" ? 0 : since;
    return lastLinesOf([this.#logFile, startLogFile(this.#logFile)], count, sinceMs);
  }

  logsCommand({ lines, follow }: { lines: number; follow: boolean }): string[] {
    // -F and not -f: the daemon moves a full log aside.
    return ["tail", "-n", String(lines), ...(follow ? ["-F"] : []), this.#logFile];
  }

  /** What it takes until the installed service runs: nothing, when it does. */
  async #run(): Promise<Step[]> {
    const job = await this.#launchctl.job();
    if (job === null) return [load(this.#launchctl, this.#file)];
    return job.pid === null ? [kickstart(this.#launchctl)] : [];
  }

  async #unload(): Promise<Step[]> {
    const isLoaded = (await this.#launchctl.job()) !== null;
    return isLoaded ? unload(this.#launchctl, await this.#exitMs()) : [];
  }

  /** How long the installed daemon may take to end. */
  async #exitMs(): Promise<number> {
    const text = await this.#readFile();
    return (text === null ? null : readAgent(text)?.exitMs) ?? USUAL_EXIT_MS;
  }

  async #readFile(): Promise<string | null> {
    return readFile(this.#file, "utf8").catch(() => null);
  }

  async #requireInstalled(): Promise<void> {
    if ((await this.#readFile()) !== null) return;
    throw new Failure("the service is not installed", "type: tollkeeper service install");
  }

  /** @throws Failure where launchd would refuse to load it, with a number for all explanation */
  async #requireLaunchd(command: string): Promise<void> {
    const { domain, service } = this.#launchctl;
    if (!(await this.#launchctl.hasSession())) {
      throw new Failure(
        `launchd has no ${domain}: you are not logged in at the screen of this Mac`,
        `log in there, then type, without sudo: ${command}; over ssh alone run: tollkeeper serve`,
      );
    }
    if (!(await this.#launchctl.isDisabled())) return;
    throw new Failure(
      "somebody has switched tollkeeper off, by launchctl or in System Settings, Login Items",
      `allow it again with: launchctl enable ${service}; then type: ${command}`,
    );
  }

  async #whyNotLoaded(isInstalled: boolean, isDisabled: boolean): Promise<string> {
    if (!isInstalled) return "not installed";
    if (isDisabled) return "switched off in launchd";
    return (await this.#launchctl.hasSession()) ? "stopped" : "nobody is logged in at the screen";
  }
}
