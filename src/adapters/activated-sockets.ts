/** The first inherited descriptor (sd_listen_fds(3), SD_LISTEN_FDS_START). */
const FIRST_DESCRIPTOR = 3;

/**
 * Returns the descriptors of the sockets that a service manager opened for this process (sd_listen_fds(3)); empty without
 * a service manager. Removes the variables that announce them from `env`, since child processes must not see them.
 */
export function takeActivatedSockets(env: NodeJS.ProcessEnv, pid: number): number[] {
  const isForThisProcess = env["LISTEN_PID"] === String(pid);
  const count = isForThisProcess ? Number(env["LISTEN_FDS"]) : 0;
  for (const name of ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) delete env[name];
  if (!Number.isSafeInteger(count)) return [];
  return Array.from({ length: count }, (_, index) => FIRST_DESCRIPTOR + index);
}
