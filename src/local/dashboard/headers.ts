/** Proves that a request comes from our own page, and not from another document of its origin: only the page knows the value. */
export const PAGE_HEADER = "x-tollkeeper-page";

/** A session: where the system does not tell whose connection it is, feeds want one that a person has approved. */
export const SESSION_HEADER = "x-tollkeeper-session";

/** What a page waits with until a person has approved it. It opens no feed. */
export const TICKET_HEADER = "x-tollkeeper-ticket";

/** What a page gets that asks for a session. All are null where none is needed. */
export interface RequestedSession {
  /** null while the page waits. */
  session: string | null;
  /** null once the page has a session. */
  ticket: string | null;
  /** What a person types to approve the page; comes only with a new ticket. */
  code: string | null;
}
