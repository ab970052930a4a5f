import { fork } from "node:child_process";
import { extname } from "node:path";
import type { KeytarReply, KeytarRequest } from "./protocol.ts";

/** What became of one keytar call: its reply, nothing within the time given, or a child that died over it. */
export type KeytarOutcome = KeytarReply | { ok: null; died: string | null };

/** In `dist` this is JavaScript; the source, in TypeScript, runs under tsx. */
const IS_SOURCE = extname(import.meta.filename) === ".ts";

const CHILD = new URL(
  import.meta.resolve(
    IS_SOURCE ? "#package/src/adapters/keychain/child.ts" : "#package/dist/adapters/keychain/child.js",
  ),
);

const LOADER_FLAG = /^(?:--import|--require|-r|--loader|--experimental-loader)(?:=.+)?$/;

/**
 * An address that no machine has (RFC 5737), so that on SIGUSR1 the inspector cannot be opened from the child's first
 * instant on, which no listener inside it could see to; Node 20 has no `--disable-sigusr1` yet (facts/threats.md B9).
 */
const NO_INSPECTOR = "--inspect-port=192.0.2.1:9229";

/**
 * Makes one keytar call in a process of its own. The secret travels over the IPC channel only. Settles after
 * `timeoutMs` at the latest, and the child is ended whatever happens.
 * @returns `died` is the signal or exit code by which the child ended, null when it had to be killed for its silence
 */
export function callKeytar(
  request: KeytarRequest,
  env: Record<string, string>,
  timeoutMs: number,
): Promise<KeytarOutcome> {
  return new Promise((resolve) => {
    const child = fork(CHILD, [], {
      env,
      execArgv: [NO_INSPECTOR, ...loaderFlags(process.execArgv)],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const settle = (outcome: KeytarOutcome) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      if (child.connected) child.disconnect();
      child.unref();
      resolve(outcome);
    };
    const timer = setTimeout(() => settle({ ok: null, died: null }), timeoutMs);
    child.once("message", (reply) => settle(reply as KeytarReply));
    child.once("exit", (code, signal) => settle({ ok: null, died: signal ?? `exit code ${code}` }));
    // Stays, because a child that could not be started fails twice: once for itself, once for the message to it.
    child.on("error", (error) => settle({ ok: null, died: error.message }));
    child.send(request);
  });
}

/**
 * The flags by which this process loads TypeScript, when it runs from source; nothing else is handed on: an
 * inspector's port would open the child to others, and a user's own preload has no business next to the key.
 */
function loaderFlags(execArgv: readonly string[]): string[] {
  if (!IS_SOURCE) return [];
  return execArgv.filter((argument, i) => {
    const before = execArgv[i - 1] ?? "";
    return LOADER_FLAG.test(argument) || (LOADER_FLAG.test(before) && !before.includes("="));
  });
}
