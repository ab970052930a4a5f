/**
 * How many connections may wait to be accepted, as `backlog` of listen(2): as many as the system allows. They wait from one daemon to the
 * next where a service manager holds the socket, and while Node accepts one after the other. At Node's default of 511, the rest of 1,000
 * that arrive at once try again after a second, and on a Unix socket are refused (EAGAIN).
 */
export const ACCEPT_QUEUE = 65_535;
