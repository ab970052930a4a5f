import { quoteForShell } from "../../core/text/shell-words.ts";
import type { Step } from "../service-manager.ts";
import type { RunProgram } from "../run-program.ts";
import { LABEL } from "./agent.ts";

/** How long a label may remain taken after its daemon has exited; 5 seconds have been observed. */
const SETTLE_MS = 10_000;

/** A service that launchd has loaded. */
interface Job {
  /** null when it is not running. */
  pid: number | null;
  /** True when it is not running because its last run failed. */
  hasFailed: boolean;
  /** launchd's own description, e.g. `running`, or `not running, last exit code 1`. */
  detail: string;
}

/**
 * Queries the service through `launchctl`, and returns the steps that control it. The output of `launchctl` is not a stable
 * interface (launchctl(1)), so only single lines are matched, and a missing one counts as unknown.
 */
export class Launchctl {
  /** The domain of the user's graphical login session. A login over ssh alone does not create it. */
  readonly domain: string;
  readonly service: string;
  readonly #run: RunProgram;

  constructor(uid: number, run: RunProgram) {
    this.domain = `gui/${uid}`;
    this.service = `${this.domain}/${LABEL}`;
    this.#run = run;
  }

  /** True when the user has a graphical login session. Otherwise launchctl exits with 125, on older systems with 112. */
  async hasSession(): Promise<boolean> {
    return (await this.#run(["launchctl", "print", this.domain])).code === 0;
  }

  /** True when the label has been disabled, which outlives the service's file. */
  async isDisabled(): Promise<boolean> {
    const { stdout } = await this.#run(["launchctl", "print-disabled", this.domain]);
    // macOS 13 and later print `disabled`, older releases `true`.
    return new RegExp(`^\\s*"${LABEL}" => (?:disabled|true)\\s*$`, "m").test(stdout);
  }

  /** Returns those of the variables that have been set for all services of the session (`launchctl setenv`). */
  async getVariables(names: readonly string[]): Promise<Record<string, string>> {
    const values = await Promise.all(names.map(async (name) => this.#run(["launchctl", "getenv", name])));
    const pairs = names.map((name, i): [string, string] => [name, values[i]?.stdout.trim() ?? ""]);
    return Object.fromEntries(pairs.filter(([, value]) => value !== ""));
  }

  /** Returns the loaded service; null when it is not loaded. */
  async findJob(): Promise<Job | null> {
    const { code, stdout } = await this.#run(["launchctl", "print", this.service]);
    return code === 0 ? parseJob(stdout) : null;
  }

  /** Loads the definition, which starts the daemon. */
  loadStep(file: string): Step {
    const argv = ["launchctl", "bootstrap", this.domain, file];
    // Errors 5 and 37 appear while launchd still cleans up the previous service of that label. 5 has other causes too.
    const repeats = { while: /: (?:5|37): /, limitMs: SETTLE_MS };
    return { kind: "run", argv, repeats, explains: { output: /: 5: /, hint: this.#explainError5(file) } };
  }

  /** Error 5 stands for several causes, and launchctl names none. The most frequently reported comes first. */
  #explainError5(file: string): string {
    const path = quoteForShell(file);
    return [
      `launchd gives no reason; its log may contain one: log show --last 5m --predicate 'process == "launchd"' | grep ${LABEL}`,
      "Possible causes, most likely first, and how to check each:",
      `  a service of that name is still stopping, or partly loaded: launchctl print ${this.service}; if so: launchctl bootout ${this.service}`,
      `  it is disabled: launchctl print-disabled ${this.domain}, and System Settings, General, Login Items`,
      `  other users can write to the file, or another user owns it: ls -l ${path}`,
      `  the home directory is on another volume, from which launchd does not load services: df ${path}`,
      `  this shell is not part of the graphical session: launchctl managername (must print Aqua)`,
      `  the file is damaged: plutil -lint ${path}`,
      "then: tollkeeper service install",
    ].join("\n");
  }

  /** Stops the daemon, which may take `exitMs`, and unloads it until the next login or {@link loadStep}. */
  unloadSteps(exitMs: number): Step[] {
    const argv = ["launchctl", "bootout", this.service];
    // It returns at once, sometimes with error 36, while the daemon drains. The label stays taken until the daemon exits.
    const bootout: Step = { kind: "run", argv, tolerates: /: (?:3|36|113): / };
    return [bootout, this.#waitWhile(/^\S+ = \{/, exitMs)];
  }

  /** Starts a loaded service that is not running, regardless of ThrottleInterval. */
  kickstartStep(): Step {
    return { kind: "run", argv: ["launchctl", "kickstart", this.service] };
  }

  /**
   * Stops the running daemon and starts it again. A daemon that is still running after `exitMs` is killed. `kickstart -k`
   * alone would truncate every stream, because it sends SIGKILL at once (observed on macOS as last exit status 9).
   */
  restartSteps(exitMs: number): Step[] {
    // After SIGTERM the daemon exits with 0, so KeepAlive does not restart it.
    const terminate = ["launchctl", "kill", "SIGTERM", this.service];
    return [
      { kind: "run", argv: terminate, tolerates: /No (?:such )?process/ },
      this.#waitWhile(/^\s*pid = \d/m, exitMs),
      { kind: "run", argv: ["launchctl", "kickstart", "-k", this.service] },
    ];
  }

  /** Waits while the output of `launchctl print` for the service matches. */
  #waitWhile(condition: RegExp, limitMs: number): Step {
    const argv = ["launchctl", "print", this.service];
    const tolerates = /Could not find|Bad request/;
    return { kind: "run", argv, tolerates, repeats: { while: condition, limitMs } };
  }
}

function parseJob(printed: string): Job {
  // The first match is the service's own value: those of its parts are printed below.
  const valueOf = (name: string) => new RegExp(`^\\s*${name} = (.+?)\\s*$`, "m").exec(printed)?.[1];
  const pid = Number(valueOf("pid"));
  const state = valueOf("state") ?? "loaded";
  if (Number.isInteger(pid)) return { pid, hasFailed: false, detail: state };
  const signal = valueOf("last terminating signal");
  const code = valueOf("last exit code");
  const end = signal === undefined ? code && `last exit code ${code}` : `ended by signal ${signal}`;
  // The value may also be "(never exited)".
  const hasFailed = signal !== undefined || /^[1-9]/.test(code ?? "");
  return { pid: null, hasFailed, detail: [state, end].filter(Boolean).join(", ") };
}
