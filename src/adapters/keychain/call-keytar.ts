import { fork } from "node:child_process";
import type { KeytarReply, KeytarRequest } from "./protocol.ts";

/** The result of one keytar call: its reply, or `ok: null` when the call timed out or the child died. */
type KeytarOutcome = KeytarReply | { ok: null; died: string | null };

const CHILD = new URL(import.meta.resolve("#package/dist/adapters/keychain/keytar-child.js"));

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
      // Not this process's flags: an inspector's port would expose the key, and a user's own preload must not run next to it.
      execArgv: [NO_INSPECTOR],
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
