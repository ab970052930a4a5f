import type { Step } from "../service-manager.ts";
import type { Launchctl } from "./launchctl.ts";

/** How long a label may still count as taken after its daemon has ended; 5 seconds have been seen. */
const SETTLE_MS = 10_000;

/** Loads the definition, which starts the daemon. */
export function load({ domain }: Launchctl, file: string): Step {
  const argv = ["launchctl", "bootstrap", domain, file];
  // Both are said while launchd is not done with an older service of that label, and 5 for other reasons, too.
  return { kind: "run", argv, repeats: { while: /: (?:5|37): /, limitMs: SETTLE_MS } };
}

/** Stops the daemon and takes it from launchd, until the next login or {@link load}. It is given `exitMs` to end. */
export function unload(launchctl: Launchctl, exitMs: number): Step[] {
  const argv = ["launchctl", "bootout", launchctl.service];
  // It returns at once, sometimes with error 36, while the daemon drains. The label is taken until that has ended.
  const bootout: Step = { kind: "run", argv, tolerates: /: (?:3|36|113): / };
  return [bootout, waitWhile(launchctl, /^\S+ = \{/, exitMs)];
}

/** Starts a loaded service that does not run, whatever ThrottleInterval says. */
export function kickstart({ service }: Launchctl): Step {
  return { kind: "run", argv: ["launchctl", "kickstart", service] };
}

/**
 * Stops the running daemon and starts it again; one that has not ended in `exitMs` is killed. `kickstart -k` alone would
 * cut every stream: it sends SIGKILL at once (seen on macOS as a last exit status of 9).
 */
export function drainAndKickstart(launchctl: Launchctl, exitMs: number): Step[] {
  const { service } = launchctl;
  // The daemon exits with 0 then, and so KeepAlive does not start it.
  const terminate = ["launchctl", "kill", "SIGTERM", service];
  return [
    { kind: "run", argv: terminate, tolerates: /No (?:such )?process/ },
    waitWhile(launchctl, /^\s*pid = \d/m, exitMs),
    { kind: "run", argv: ["launchctl", "kickstart", "-k", service] },
  ];
}

/** Waits while what launchd prints of the service matches. */
function waitWhile({ service }: Launchctl, condition: RegExp, limitMs: number): Step {
  const tolerates = /Could not find|Bad request/;
  return {
    kind: "run",
    argv: ["launchctl", "print", service],
    tolerates,
    repeats: { while: condition, limitMs },
  };
}
