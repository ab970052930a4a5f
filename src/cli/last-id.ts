/** Stands for the newest one wherever a command takes the id of a request, a session or a capture. */
export const LAST = "last";
