import { spawn } from "node:child_process";
import type { Log, ServiceNotifier } from "../ports.ts";

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
      say("READY=1", `STATUS=${status}`);
      if (watchdogMs > 0) watchdog = setInterval(() => say("WATCHDOG=1"), watchdogMs / 3).unref();
    },
    status: (status) => say(`STATUS=${status}`),
    stopping: (status, limitMs) =>
      say("STOPPING=1", `STATUS=${status}`, `EXTEND_TIMEOUT_USEC=${limitMs * 1000}`),
    close: () => clearInterval(watchdog),
  };
}

/** Never rejects: a message that is not sent ends nothing here, and systemd draws its own conclusions. */
function runNotify(variables: readonly string[], env: NodeJS.ProcessEnv, log: Log): Promise<void> {
  return new Promise((resolve) => {
    // A line break would begin another variable.
    const words = variables.map((variable) => variable.replaceAll("\n", " "));
    const child = spawn("systemd-notify", words, { env, stdio: "ignore" });
    child.once("error", (error) => {
      log.warn({ err: error }, "systemd cannot be told how the daemon is: systemd-notify does not run");
      resolve();
    });
    child.once("exit", (code) => {
      if (code !== 0 && code !== null) log.warn({ code }, "systemd-notify failed");
      resolve();
    });
  });
}
