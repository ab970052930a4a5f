/** What keeps a service from starting. What helps depends on what is there now; see diagnose.ts. */
export type CauseKind =
  | "manual-daemon"
  | "port"
  | "configuration"
  | "missing-configuration"
  | "node-settings"
  | "program"
  | "sandbox"
  | "credential"
  | "definition";

/** A cause that can be recognized in a log. */
export interface KnownCause {
  kind: CauseKind;
  trace: RegExp;
  /** What is wrong, while it is. */
  what: string;
  /** What was wrong, once it no longer is. */
  whatWas: string;
  /** Settings with which a file of the user's own (a drop-in of systemd's) can be the cause; null where none can. */
  changes: RegExp | null;
}

/**
 * The usual causes, by what systemd (systemd.exec(5), "Process exit codes"), launchd, Node or the daemon's own log print. The
 * first that matches counts: Node's words about its options come before those that any program may use.
 */
const CAUSES: readonly KnownCause[] = [
  {
    kind: "manual-daemon",
    trace: /is already running: pid/,
    what: "a daemon that was started by hand is already running",
    whatWas: "a daemon that was started by hand was running",
    changes: null,
  },
  {
    kind: "port",
    trace: /is taken by|EADDRINUSE|Address already in use/i,
    what: "its port is taken by another program",
    whatWas: "its port was taken by another program, but is free now",
    changes: null,
  },
  {
    kind: "configuration",
    trace: /configuration is not usable/,
    what: "its configuration is invalid",
    whatWas: "its configuration was invalid, but is valid now",
    changes: null,
  },
  {
    kind: "missing-configuration",
    trace: /there is no configuration file/,
    what: "its configuration file does not exist",
    whatWas: "its configuration file did not exist, but exists now",
    changes: null,
  },
  {
    kind: "node-settings",
    trace: /NODE_OPTIONS|NODE_DEBUG|Node's inspector is open|under \S+ Node would /,
    what: "Node is given settings with which it does not start, or would expose the key",
    whatWas: "Node was given settings with which it did not start, or would have exposed the key",
    changes: /\bNODE_(?:OPTIONS|DEBUG)=/,
  },
  {
    kind: "program",
    trace: /status[ =]203|at step EXEC|Cannot find module|MODULE_NOT_FOUND|last exit code 78/,
    what: "its Node or program no longer exists",
    whatWas: "its Node or program did not exist",
    changes: /^\s*ExecStart\s*=|\bNODE_OPTIONS=/m,
  },
  {
    kind: "sandbox",
    trace: /status[ =](?:21[78]|226)|at step (?:USER|CAPABILITIES|NAMESPACE)/,
    what: "its sandbox cannot be set up: the kernel refuses it, or a directory that it names is gone",
    whatWas: "its sandbox could not be set up",
    changes: /^\s*(?:\w+Paths|Private\w+|Protect\w+|Root\w+|Temporary\w+|User|Capability\w+|Ambient\w+)\s*=/m,
  },
  {
    kind: "credential",
    trace: /status[ =]243|at step CREDENTIALS/,
    what: "a credential cannot be read (LoadCredential=)",
    whatWas: "a credential could not be read (LoadCredential=)",
    changes: null,
  },
  {
    kind: "definition",
    trace:
      /status[ =]2\d\d|at step [A-Z_]+|^tollkeeper\.\w+: Failed to (?:run|load) |result 'resources'|unmet condition/,
    what: "something that its definition names does not exist",
    whatWas: "something that its definition names did not exist",
    changes: /^\s*\w+\s*=/m,
  },
];

/** Returns the cause that the first matching text points to, or null. Earlier texts take precedence. */
export function matchCause(texts: readonly string[]): KnownCause | null {
  for (const text of texts) {
    const cause = CAUSES.find(({ trace }) => trace.test(text));
    if (cause !== undefined) return cause;
  }
  return null;
}
