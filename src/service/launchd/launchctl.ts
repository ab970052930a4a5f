import type { RunProgram } from "../service-manager.ts";
import { LABEL } from "./agent.ts";

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
 * Queries the service through `launchctl`. Its output is not a stable interface (launchctl(1)), so only single lines are
 * matched, and a missing one counts as unknown.
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

  /** Returns the loaded service; null when it is not loaded. */
  async findJob(): Promise<Job | null> {
    const { code, stdout } = await this.#run(["launchctl", "print", this.service]);
    return code === 0 ? parseJob(stdout) : null;
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
