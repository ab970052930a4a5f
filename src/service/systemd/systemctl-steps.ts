import type { Step } from "../service-manager.ts";

/** Returns one call of systemctl for the user's systemd. */
export function systemctlStep(...words: string[]): Extract<Step, { kind: "run" }> {
  return { kind: "run", argv: ["systemctl", "--user", ...words] };
}

/** What systemctl prints for a unit that has never run or whose file is broken: there is nothing to stop or to reset. */
export const NOT_LOADED = /not loaded/;

/** Clears the start limit. Without this, systemd refuses to start a unit that has failed too often. */
export function resetFailedStep(units: readonly string[]): Step {
  return { ...systemctlStep("reset-failed", ...units), tolerates: NOT_LOADED };
}
