import type { RunProgram } from "../service-manager.ts";
import { LABEL } from "./agent.ts";

/** A service that launchd has loaded. */
export interface Job {
  /** null when it does not run. */
  pid: number | null;
  /** Does it not run because it ended badly? */
  hasFailed: boolean;
  /** launchd's own words, e.g. `running`, or `not running, last exit code 1`. */
  detail: string;
}

/**
 * What `launchctl` tells of the service. Its output is no interface and changes between releases (launchctl(1)): only
 * single lines are looked for, and one that is not found means that nothing is known.
 */
export class Launchctl {
  /** Where agents of a user live who is logged in at the screen; there is none over ssh alone. */
  readonly domain: string;
  readonly service: string;
  readonly #run: RunProgram;

  constructor(uid: number, run: RunProgram) {
    this.domain = `gui/${uid}`;
    this.service = `${this.domain}/${LABEL}`;
    this.#run = run;
  }

  /** Is the user logged in at the screen? Where not, it fails with 125, or 112 on older systems. */
  async hasSession(): Promise<boolean> {
    return (await this.#run(["launchctl", "print", this.domain])).code === 0;
  }

  /** Has somebody switched the label off? That outlives the service's file. */
  async isDisabled(): Promise<boolean> {
    const { stdout } = await this.#run(["launchctl", "print-disabled", this.domain]);
    return isDisabledIn(stdout);
  }

  /** null when it is not loaded. */
  async job(): Promise<Job | null> {
    const { code, stdout } = await this.#run(["launchctl", "print", this.service]);
    return code === 0 ? readJob(stdout) : null;
  }
}

/** macOS 13 and later say `disabled`, older ones `true`. */
function isDisabledIn(printed: string): boolean {
  return new RegExp(`^\\s*"${LABEL}" => (?:disabled|true)\\s*$`, "m").test(printed);
}

/** The service's own values stand first, those of its parts below them. */
function readJob(printed: string): Job {
  const valueOf = (name: string) => new RegExp(`^\\s*${name} = (.+?)\\s*$`, "m").exec(printed)?.[1];
  const pid = Number(valueOf("pid"));
  const state = valueOf("state") ?? "loaded";
  if (Number.isInteger(pid)) return { pid, hasFailed: false, detail: state };
  const signal = valueOf("last terminating signal");
  const code = valueOf("last exit code");
  const end = signal === undefined ? code && `last exit code ${code}` : `ended by signal ${signal}`;
  // "(never exited)" is no code.
  const hasFailed = signal !== undefined || /^[1-9]/.test(code ?? "");
  return { pid: null, hasFailed, detail: [state, end].filter(Boolean).join(", ") };
}
