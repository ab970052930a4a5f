import type { Step } from "../service-manager.ts";
import type { Launchctl } from "./launchctl.ts";

/** How long a label may remain taken after its daemon has exited; 5 seconds have been observed. */
const SETTLE_MS = 10_000;

/** Loads the definition, which starts the daemon. */
export function loadStep({ domain }: Launchctl, file: string): Step {
  const argv = ["launchctl", "bootstrap", domain, file];
  // Errors 5 and 37 appear while launchd still cleans up the previous service of that label. 5 has other causes too.
  return { kind: "run", argv, repeats: { while: /: (?:5|37): /, limitMs: SETTLE_MS } };
}

/** Stops the daemon, which may take `exitMs`, and unloads it until the next login or {@link loadStep}. */
export function unloadSteps(launchctl: Launchctl, exitMs: number): Step[] {
  const argv = ["launchctl", "bootout", launchctl.service];
  // It returns at once, sometimes with error 36, while the daemon drains. The label stays taken until the daemon exits.
  const bootout: Step = { kind: "run", argv, tolerates: /: (?:3|36|113): / };
  return [bootout, waitWhile(launchctl, /^\S+ = \{/, exitMs)];
}

/** Starts a loaded service that is not running, regardless of ThrottleInterval. */
export function kickstartStep({ service }: Launchctl): Step {
  return { kind: "run", argv: ["launchctl", "kickstart", service] };
}

/**
 * Stops the running daemon and starts it again. A daemon that is still running after `exitMs` is killed. `kickstart -k`
 * alone would cut off every stream, because it sends SIGKILL at once (observed on macOS as last exit status 9).
 */
export function drainAndKickstartSteps(launchctl: Launchctl, exitMs: number): Step[] {
  const { service } = launchctl;
  // After SIGTERM the daemon exits with 0, so KeepAlive does not restart it.
  const terminate = ["launchctl", "kill", "SIGTERM", service];
  return [
    { kind: "run", argv: terminate, tolerates: /No (?:such )?process/ },
    waitWhile(launchctl, /^\s*pid = \d/m, exitMs),
    { kind: "run", argv: ["launchctl", "kickstart", "-k", service] },
  ];
}

/** Waits while the output of `launchctl print` for the service matches. */
function waitWhile({ service }: Launchctl, condition: RegExp, limitMs: number): Step {
  const tolerates = /Could not find|Bad request/;
  return {
    kind: "run",
    argv: ["launchctl", "print", service],
    tolerates,
    repeats: { while: condition, limitMs },
  };
}
