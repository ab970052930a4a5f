import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { giveWay, OWN_PROGRAM, passOn } from "./own-command.ts";

/** What reads secrets needs besides: the session bus of the keychain, and systemd's credentials. */
const FOR_SECRETS = /^(?:USER|LOGNAME|LD_LIBRARY_PATH|DBUS_SESSION_BUS_ADDRESS|CREDENTIALS_DIRECTORY)$/;
/** Longest part of its standard error that is kept. */
const MOST_CHARACTERS = 1_000;

/** What is called when a running command of ours prints or ends. */
interface OwnProcessEvents {
  /** A line of its standard output. */
  onLine(line: string): void;
  /** It has ended; `words` is what it last said on standard error. */
  onEnd(words: string): void;
}

/**
 * A command of this program that runs on as a process of its own, at low priority. It has no secret of ours, and reads those that it needs
 * itself. Its standard input closes when this process ends, however that happens, and it then ends, too.
 */
export class OwnProcess {
  readonly #child: ChildProcess;

  constructor(words: readonly string[], { onLine, onEnd }: OwnProcessEvents) {
    this.#child = spawn(process.execPath, [OWN_PROGRAM, ...words], {
      env: passOn(FOR_SECRETS),
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { pid, stdin, stdout, stderr } = this.#child;
    if (pid !== undefined) giveWay(pid);
    let said = "";
    stdin?.on("error", () => {});
    if (stdout !== null) createInterface({ input: stdout }).on("line", onLine);
    stderr
      ?.setEncoding("utf8")
      .on("data", (text: string) => (said = `${said}${text}`.slice(-MOST_CHARACTERS)));
    this.#child.once("error", (error) => onEnd(error.message));
    this.#child.once("close", () => onEnd(said.trim()));
    // A daemon that stops does not wait for it.
    this.#child.unref();
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** Tells it to end. */
  end(): void {
    this.#child.stdin?.end();
    this.#child.kill("SIGTERM");
  }
}
