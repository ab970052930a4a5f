import { execFile } from "node:child_process";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";

/** What a command of ours has printed. */
interface CommandOutput {
  /** Exit code; null if it was ended, because it took too long or its answer is not needed any more. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The script that runs this program. */
export const OWN_PROGRAM = fileURLToPath(import.meta.resolve("#package/dist/main.js"));
/** Its priority is low, so on a busy machine it takes many times as long as on an idle one. */
const LIMIT_MS = 120_000;
const MOST_BYTES = 32 * 1024 * 1024;
/** As many as have a processor of their own beside the daemon on most machines; others wait. */
const MOST_RUNNING = 2;
const MOST_WAITING = 16;

/** What a command needs of the environment: where the files are, and the language and time zone. */
const PASSED_ON = /^(?:HOME|PATH|LANG|TZ|LC_.*|XDG_.*|APPDATA|LOCALAPPDATA|SystemRoot)$/;

/**
 * Runs commands of this program as processes of their own, so that neither the memory nor the time that they take is the daemon's. They
 * get no secret: the environment that they see has none of ours.
 */
export class OwnCommands {
  readonly #configFile: () => string | null;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param configFile the configuration that they use; null for the default */
  constructor(configFile: () => string | null) {
    this.#configFile = configFile;
  }

  /** Resolves to what the command has printed; rejects for words that no program can be given. Returns null if too many others wait. `isOver` ends it. */
  run(words: readonly string[], isOver: AbortSignal): Promise<CommandOutput> | null {
    if (this.#running < MOST_RUNNING) return this.#run(words, isOver);
    if (this.#waiting.length >= MOST_WAITING) return null;
    return new Promise<void>((resolve) => this.#waiting.push(resolve)).then(() => this.#run(words, isOver));
  }

  async #run(words: readonly string[], signal: AbortSignal): Promise<CommandOutput> {
    this.#running += 1;
    const configFile = this.#configFile();
    const argv = [OWN_PROGRAM, ...words, ...(configFile === null ? [] : [`--config=${configFile}`])];
    const options = {
      env: passOn(),
      signal,
      timeout: LIMIT_MS,
      maxBuffer: MOST_BYTES,
      killSignal: "SIGKILL",
    } as const;
    try {
      return await new Promise<CommandOutput>((resolve) => {
        const { pid } = execFile(process.execPath, argv, options, (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : null;
          resolve({ code, stdout, stderr });
        });
        if (pid !== undefined) giveWay(pid);
      });
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }
}

/** Returns what a command gets of this process's environment, and what `more` matches besides. */
export function passOn(more: RegExp | null = null): Record<string, string | undefined> {
  const isPassedOn = (name: string) => PASSED_ON.test(name) || more?.test(name) === true;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isPassedOn(name)));
}

/** Lets requests go first where processors are few. */
export function giveWay(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already, or the system does not allow it.
  }
}
