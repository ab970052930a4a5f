import { Failure, hasCode } from "../../core/failure.ts";

/** `sun_path` with its closing NUL holds 108 bytes on Linux, 104 on macOS (unix(7), unix(4)). */
const MAX_PATH_BYTES = process.platform === "linux" ? 107 : 103;

/**
 * Throws a Failure for a path that libuv may silently truncate, which would name a different socket.
 * @param subject what the message calls the path
 */
export function refuseLongPath(
  path: string,
  subject = "the control socket's path",
  hint = "use a shorter directory with: export XDG_RUNTIME_DIR=/run/user/$(id -u)",
): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= MAX_PATH_BYTES) return;
  const what = `${subject} has ${bytes} bytes, but the system allows at most ${MAX_PATH_BYTES}`;
  throw new Failure(`${what}: ${path}`, hint);
}

/** True for the error of connecting to a socket on which no daemon listens. */
export function isNotListening(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ECONNREFUSED"].some((code) => hasCode(error, code));
}
