import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Log, ServiceNotifier } from "../ports.ts";

/** A call takes 10 ms. One that hangs must not block later messages or the daemon's exit. */
const NOTIFY_TIMEOUT_MS = 5_000;

/** In characters. One argument may have 128 KiB (execve(2)), but a status is one line for people. */
const MAX_STATUS_LENGTH = 500;

/** For a daemon that no service manager watches. */
const SILENT: ServiceNotifier = { ready() {}, status() {}, stopping() {}, close() {} };

/**
 * Reports the daemon's state to systemd (sd_notify(3)). It runs `systemd-notify`, because Node cannot send to a Unix
 * datagram socket; the unit needs `NotifyAccess=all` for that (docs/platform.md section 2). If the unit has a watchdog,
 * systemd is notified three times per period, and restarts the daemon when its event loop hangs and these messages stop.
 * Removes the variables from `env`, so that no other child can speak for the daemon. Does nothing where they are not set.
 */
export function openServiceNotifier(env: NodeJS.ProcessEnv, pid: number, log: Log): ServiceNotifier {
  const socket = env["NOTIFY_SOCKET"];
  const isWatched = [undefined, String(pid)].includes(env["WATCHDOG_PID"]);
  const watchdogMs = isWatched ? Number(env["WATCHDOG_USEC"] ?? 0) / 1000 : 0;
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete env[name];
  if (socket === undefined) return SILENT;

  const childEnv = { PATH: env["PATH"], NOTIFY_SOCKET: socket };
  let watchdog: NodeJS.Timeout | undefined;
  /** Messages are sent one after another, so that the last status wins. */
  let sent = Promise.resolve();
  const notify = (...variables: string[]) => {
    sent = sent.then(() => runNotify(variables, childEnv, log));
  };
  return {
    ready(status) {
      notify("READY=1", formatStatus(status));
      if (watchdogMs > 0) watchdog = setInterval(() => notify("WATCHDOG=1"), watchdogMs / 3).unref();
    },
    status: (status) => notify(formatStatus(status)),
    stopping: (status, limitMs) =>
      notify("STOPPING=1", formatStatus(status), `EXTEND_TIMEOUT_USEC=${limitMs * 1000}`),
    close: () => clearInterval(watchdog),
  };
}

/** Makes one line of it: after a line break, systemd would read another variable. */
function formatStatus(status: string): string {
  return `STATUS=${status.replaceAll(/\p{Cc}/gu, " ").slice(0, MAX_STATUS_LENGTH)}`;
}

/** Never rejects: a message that cannot be sent is logged, and the daemon keeps running. */
async function runNotify(variables: readonly string[], env: NodeJS.ProcessEnv, log: Log): Promise<void> {
  try {
    const options = { env, timeout: NOTIFY_TIMEOUT_MS, killSignal: "SIGKILL" } as const;
    // Throws synchronously when the system has no memory left for another process.
    const child = spawn("systemd-notify", variables, { ...options, stdio: "ignore" });
    const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
    if (code !== 0) log.warn({ code, signal }, "cannot notify systemd: systemd-notify failed");
  } catch (error) {
    log.warn({ err: error }, "cannot notify systemd: systemd-notify cannot be run");
  }
}
