import { spawn, type ChildProcess } from "node:child_process";
import { repeatable } from "../../core/config/problem.ts";
import { KeyFailure } from "../../core/failure.ts";

/** How long a command may take: half a second less than the five that `KeyStore` promises. */
const LIMIT_MS = 4500;

/** `pass show` prints a whole note below the key, so a command may say more than a key. */
const LIMIT_OUTPUT = 64 * 1024;

/** What is repeated of a command's last words, in characters. */
const LIMIT_WORDS = 200;

/** What to type where a key source is wrong. */
export const EDIT = "correct keySource in the file that `tollkeeper config path` names";
const TRY = `see what it said with \`tollkeeper status\`, or try it in a terminal; then ${EDIT}`;

/** How a command came to its end, and what it had said by then; `limit` is the one that it was ended for. */
interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  limit: "time" | "output" | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs the command, without a shell, and takes the first line that it prints. Ends it with all that it has started when
 * it takes longer than 4.5 seconds. Rejects with a KeyFailure whose message, which clients get, holds nothing of the
 * command; or with Node's error when there can be no such command line.
 */
export async function firstLineOf([file, ...args]: readonly [string, ...string[]]): Promise<string> {
  const ending = await run(file, args);
  const { code, limit, stdout, stderr } = ending;
  const line = firstLine(stdout);
  if (code === 0 && limit === null) return line;
  const detail = [file, lastWords(stderr, line)].filter(Boolean).join(": ");
  if (limit === "output") throw unavailable("prints far more than a key", TRY, detail);
  if (limit === "time") {
    const message = `the key command did not end within ${LIMIT_MS / 1000} seconds`;
    throw new KeyFailure("unresponsive", message, TRY, { detail });
  }
  const how = code === null ? `signal ${ending.signal}` : `exit code ${code}`;
  throw unavailable(`failed with ${how}`, TRY, detail);
}

function run(file: string, args: string[]): Promise<Ending> {
  return new Promise((resolve, reject) => {
    // A process group of its own, to be ended as a whole. And a command that asks for a passphrase here would wait for
    // ever, so it is told at once that nobody types.
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    const said = { stdout: "", stderr: "" };
    const settle = (code: number | null, signal: NodeJS.Signals | null, limit: Ending["limit"]) => {
      clearTimeout(timer);
      if (limit !== null) endGroup(child);
      resolve({ code, signal, limit, ...said });
    };
    const timer = setTimeout(() => settle(null, null, "time"), LIMIT_MS);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said.stdout += text;
      if (said.stdout.length > LIMIT_OUTPUT) settle(null, null, "output");
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said.stderr = (said.stderr + text).slice(-LIMIT_OUTPUT);
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(cannotRun(file, error));
    });
    child.on("close", (code, signal) => settle(code, signal, null));
  });
}

/** Ends the command and all that it has started; what has left its group since is not waited for. */
function endGroup(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // All of them have ended, or this system knows no groups.
    child.kill("SIGKILL");
  }
}

function cannotRun(file: string, error: NodeJS.ErrnoException): KeyFailure {
  if (error.code === "ENOENT") return unavailable("is not found", EDIT, file);
  if (error.code === "EACCES") return unavailable("may not be run", EDIT, file);
  return unavailable(`cannot be run (${error.code})`, EDIT, file);
}

function unavailable(what: string, hint: string, detail: string): KeyFailure {
  return new KeyFailure("unavailable", `the key command ${what}`, hint, { detail });
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** The last line of standard error, without what looks like a key; nothing where it repeats what was printed, the key perhaps. */
function lastWords(stderr: string, printed: string): string {
  const line = stderr.trimEnd().split("\n").at(-1) ?? "";
  const repeats = printed.trim() !== "" && line.includes(printed.trim());
  return repeats ? "" : repeatable(line).slice(0, LIMIT_WORDS);
}
