import { fork } from "node:child_process";
import { extname } from "node:path";
import type { KeytarReply, KeytarRequest } from "./protocol.ts";

/** The result of one keytar call: its reply, or `ok: null` when the call timed out or the child died. */
type KeytarOutcome = KeytarReply | { ok: null; died: string | null };

/** True when the TypeScript source runs (under tsx), false in `dist`. */
const IS_SOURCE = extname(import.meta.filename) === ".ts";

const CHILD = new URL(
  import.meta.resolve(
    IS_SOURCE ? "#package/src/adapters/keychain/child.ts" : "#package/dist/adapters/keychain/child.js",
  ),
);

const LOADER_FLAG = /^(?:--import|--require|-r|--loader|--experimental-loader)(?:=.+)?$/;

/**
 * An address that no machine has (RFC 5737). SIGUSR1 makes Node open its inspector; with this address that fails from the
 * child's start, before a signal handler could be installed. Node 20 has no `--disable-sigusr1` yet (SECURITY.md B9).
 */
const NO_INSPECTOR = "--inspect-port=192.0.2.1:9229";

/**
 * Makes one keytar call in a child process. The secret travels over the IPC channel only. Settles within `timeoutMs`, and
 * always kills the child.
 * @returns `died` is the signal or exit code that ended the child; null when it was killed because of the timeout
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
    // Not `once`: a child that cannot be started emits two errors, the second one for the message.
    child.on("error", (error) => settle({ ok: null, died: error.message }));
    child.send(request);
  });
}

/**
 * Returns the flags that make this process load TypeScript, when it runs from source. The child gets no other flags: an
 * inspector's port would expose it, and a user's own preload must not run next to the key.
 */
function loaderFlags(execArgv: readonly string[]): string[] {
  if (!IS_SOURCE) return [];
  return execArgv.filter((argument, i) => {
    const before = execArgv[i - 1] ?? "";
    return LOADER_FLAG.test(argument) || (LOADER_FLAG.test(before) && !before.includes("="));
  });
}
