/** The first descriptor that is handed over (sd_listen_fds(3), SD_LISTEN_FDS_START). */
const FIRST = 3;

/**
 * Descriptors of the sockets that a service manager opened for this process, as sd_listen_fds(3) says; none without one.
 * Takes the variables that name them out of `env`: they are not meant for children.
 */
export function takeActivatedSockets(env: NodeJS.ProcessEnv, pid: number): number[] {
  const isForUs = env["LISTEN_PID"] === String(pid);
  const count = isForUs ? Number(env["LISTEN_FDS"]) : 0;
  for (const name of ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) delete env[name];
  return Number.isSafeInteger(count) ? Array.from({ length: count }, (_, index) => FIRST + index) : [];
}
