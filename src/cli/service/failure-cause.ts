import type { ServiceManager, ServiceState } from "../../service/service-manager.ts";

/** Why a service does not start, with the command that fixes it. */
export interface FailureCause {
  what: string;
  hint: string;
}

/** The usual causes, by what systemd (systemd.exec(5), "Process exit codes"), launchd or the daemon's own log print. */
const CAUSES: readonly (FailureCause & { trace: RegExp })[] = [
  {
    trace: /is already running: pid/,
    what: "a daemon that was started by hand runs already",
    hint: "stop it with: tollkeeper service stop; then: tollkeeper service start",
  },
  {
    trace: /is taken by|EADDRINUSE|Address already in use/i,
    what: "its port is taken by another program",
    hint: 'see which with: tollkeeper doctor; or set another "listen.port": tollkeeper config edit, tollkeeper service install',
  },
  {
    trace: /configuration is not usable/,
    what: "its configuration has faults",
    hint: "see them with: tollkeeper config check",
  },
  {
    trace: /status[ =]203|at step EXEC|Cannot find module|MODULE_NOT_FOUND|last exit code 78/,
    what: "its Node or its program is not there any more",
    hint: "name those of today with: tollkeeper service install",
  },
  {
    trace: /status[ =](?:21[78]|226)|at step (?:USER|CAPABILITIES|NAMESPACE)/,
    what: "its sandbox cannot be set up: the kernel refuses it, or a directory that it names is gone",
    hint: "have the directories made, and the sandbox tried again, with: tollkeeper service install",
  },
  {
    trace: /status[ =]243|at step CREDENTIALS/,
    what: "a credential cannot be read (LoadCredential=)",
    hint: "see which with: tollkeeper service logs; then correct it: systemctl --user edit tollkeeper",
  },
];

/** More lines than a daemon writes when it cannot start. */
const LOG_LINES = 20;

/** Returns why a service has failed, by its state and the log since its last start; null when unknown or not failed. */
export async function findFailureCause(
  manager: ServiceManager,
  state: ServiceState,
): Promise<FailureCause | null> {
  if (!state.hasFailed) return null;
  const lines = await manager.lastLines(LOG_LINES, "last start");
  return matchCause([state.detail, ...lines.toReversed()]);
}

/** Returns the cause that the first matching text points to, or null. Earlier texts take precedence. */
export function matchCause(texts: readonly string[]): FailureCause | null {
  for (const text of texts) {
    const cause = CAUSES.find(({ trace }) => trace.test(text));
    if (cause !== undefined) return { what: cause.what, hint: cause.hint };
  }
  return null;
}
