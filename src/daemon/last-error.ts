import type { Clock, Log } from "../ports.ts";

/** The newest warning or error of the daemon, for `status`. */
export interface LastError {
  at: string;
  message: string;
}

/** Wraps a log so that the newest warning or error can be asked for. */
export function trackLastError(log: Log, clock: Clock): { log: Log; lastError: () => LastError | null } {
  let last: LastError | null = null;
  const remember = (message: string) => {
    last = { at: new Date(clock.now()).toISOString(), message };
  };
  return {
    lastError: () => last,
    log: {
      debug: (facts, message) => log.debug(facts, message),
      info: (facts, message) => log.info(facts, message),
      warn(facts, message) {
        remember(message);
        log.warn(facts, message);
      },
      error(facts, message) {
        remember(message);
        log.error(facts, message);
      },
    },
  };
}
