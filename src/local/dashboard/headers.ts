/** A ticket, which is exchanged for a session. */
export const TICKET_HEADER = "x-tollkeeper-ticket";

/** A session: where the system does not tell whose connection it is, feeds want one. */
export const SESSION_HEADER = "x-tollkeeper-session";
