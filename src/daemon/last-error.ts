import type { Clock, Log, LogSubject } from "../ports.ts";

/** The newest warning or error of the daemon, for `status`. */
export interface LastError {
  at: string;
  message: string;
}

/** A log that returns its newest warning or error. */
export interface TrackedLog {
  log: Log;
  /** Returns null when there was none, or when its cause is resolved. */
  lastError(isInOrder: (subject: LogSubject) => boolean): LastError | null;
}

/** Wraps a log so that its newest warning or error is kept. */
export function trackLastError(log: Log, clock: Clock): TrackedLog {
  let last: (LastError & { about: LogSubject | null }) | null = null;
  const track =
    (level: "warn" | "error") =>
    ({ about = null, ...facts }: { about?: LogSubject | null }, message: string) => {
      last = { at: new Date(clock.now()).toISOString(), message, about };
      log[level](facts, message);
    };
  return {
    lastError(isInOrder) {
      if (last === null || (last.about !== null && isInOrder(last.about))) return null;
      return { at: last.at, message: last.message };
    },
    log: {
      debug: (facts, message) => log.debug(facts, message),
      info: (facts, message) => log.info(facts, message),
      warn: track("warn"),
      error: track("error"),
    },
  };
}
