import type { Clock, Log } from "../ports.ts";

/** The newest warning or error of the daemon, for `status`. */
export interface LastError {
  at: string;
  message: string;
}

/** Wraps a log so that the newest warning or error can be asked for. */
export function trackLastError(log: Log, clock: Clock): { log: Log; lastError: () => LastError | null } {
  let last: LastError | null = null;
  const track = (level: "warn" | "error") => (facts: object, message: string) => {
    last = { at: new Date(clock.now()).toISOString(), message };
    log[level](facts, message);
  };
  return {
    lastError: () => last,
    log: {
      debug: (facts, message) => log.debug(facts, message),
      info: (facts, message) => log.info(facts, message),
      warn: track("warn"),
      error: track("error"),
    },
  };
}
