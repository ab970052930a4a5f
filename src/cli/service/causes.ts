/** Why a service does not start, as far as its manager's words or its log tell, and what mends it. */
export interface Cause {
  what: string;
  hint: string;
}

/**
 * What each of the usual causes leaves behind, in systemd's words (systemd.exec(5), "Process exit codes"), launchd's, or
 * the daemon's own.
 */
const CAUSES: readonly (Cause & { trace: RegExp })[] = [
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

/** The cause that the words tell of, those that come first counting most; null when they tell of none. */
export function likelyCause(words: readonly string[]): Cause | null {
  for (const text of words) {
    const cause = CAUSES.find(({ trace }) => trace.test(text));
    if (cause !== undefined) return { what: cause.what, hint: cause.hint };
  }
  return null;
}
