/** Proves that a request comes from our own page, and not from another document of its origin: only the page knows the value. */
export const PAGE_HEADER = "x-tollkeeper-page";

/** A session: where the system does not tell whose connection it is, feeds want one that a person has approved. */
export const SESSION_HEADER = "x-tollkeeper-session";

/** What a page gets that asks for a session. */
export interface RequestedSession {
  /** null where none is needed. */
  session: string | null;
  /** What a person types to approve the session; null once that has happened, and where none is needed. */
  code: string | null;
}
