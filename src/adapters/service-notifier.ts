import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Log, ServiceNotifier } from "../ports.ts";

/** It takes 10 ms; one that hangs must neither keep what is said after it, nor the daemon from its end. */
const NOTIFY_LIMIT_MS = 5_000;

/** The system takes 128 KiB for a word (execve(2)), and people one line. */
const MOST_STATUS = 500;

/** Where nobody wants to know. */
const SILENT: ServiceNotifier = { ready() {}, status() {}, stopping() {}, close() {} };

/**
 * Tells systemd how the daemon is (sd_notify(3)), through the `systemd-notify` program, because Node cannot send to a
 * Unix datagram socket; the unit needs `NotifyAccess=all` for it (facts/platform.md 2.3). Where the unit has a watchdog, it
 * is told three times per period that the event loop turns: once that hangs, systemd kills the daemon and starts another.
 * Takes the variables out of `env`: no other child may speak for the daemon. Silent where nobody set them.
 */
export function openServiceNotifier(env: NodeJS.ProcessEnv, pid: number, log: Log): ServiceNotifier {
  const socket = env["NOTIFY_SOCKET"];
  const isWatched = [undefined, String(pid)].includes(env["WATCHDOG_PID"]);
  const watchdogMs = isWatched ? Number(env["WATCHDOG_USEC"] ?? 0) / 1000 : 0;
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete env[name];
  if (socket === undefined) return SILENT;

  const childEnv = { PATH: env["PATH"], NOTIFY_SOCKET: socket };
  let watchdog: NodeJS.Timeout | undefined;
  /** One after another, so that what is said last holds. */
  let said = Promise.resolve();
  const say = (...variables: string[]) => {
    said = said.then(() => runNotify(variables, childEnv, log));
  };
  return {
    ready(status) {
      say("READY=1", writeStatus(status));
      if (watchdogMs > 0) watchdog = setInterval(() => say("WATCHDOG=1"), watchdogMs / 3).unref();
    },
    status: (status) => say(writeStatus(status)),
    stopping: (status, limitMs) =>
      say("STOPPING=1", writeStatus(status), `EXTEND_TIMEOUT_USEC=${limitMs * 1000}`),
    close: () => clearInterval(watchdog),
  };
}

/** One line: after a break, another variable would begin. */
function writeStatus(status: string): string {
  return `STATUS=${status.replaceAll(/\p{Cc}/gu, " ").slice(0, MOST_STATUS)}`;
}

/** Never rejects: a message that is not sent ends nothing here, and systemd draws its own conclusions. */
async function runNotify(variables: readonly string[], env: NodeJS.ProcessEnv, log: Log): Promise<void> {
  try {
    const options = { env, timeout: NOTIFY_LIMIT_MS, killSignal: "SIGKILL" } as const;
    // Throws at once where the system has no memory left for another process.
    const child = spawn("systemd-notify", variables, { ...options, stdio: "ignore" });
    const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
    if (code !== 0)
      log.warn({ code, signal }, "systemd cannot be told how the daemon is: systemd-notify failed");
  } catch (error) {
    log.warn({ err: error }, "systemd cannot be told how the daemon is: systemd-notify does not run");
  }
}
