import { connect } from "node:net";
import { Failure, hasCode } from "../../core/failure.ts";

/** `sun_path` with its closing NUL holds 108 bytes on Linux, 104 on macOS (unix(7), unix(4)). */
const MAX_PATH_BYTES = process.platform === "linux" ? 107 : 103;

/** True for a path that is short enough for a Unix socket. */
export function isSocketPath(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES;
}

/**
 * Throws a Failure for a path that libuv may silently truncate, which would name a different socket.
 * @param subject what the message calls the path
 */
export function refuseLongPath(
  path: string,
  subject = "the control socket's path",
  hint = "use a shorter directory with: export XDG_RUNTIME_DIR=/run/user/$(id -u)",
): void {
  if (isSocketPath(path)) return;
  const what = `${subject} has ${Buffer.byteLength(path)} bytes, but the system allows at most ${MAX_PATH_BYTES}`;
  throw new Failure(`${what}: ${path}`, hint);
}

/** True for the error of connecting to a socket on which no daemon listens. */
export function isNotListening(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ECONNREFUSED"].some((code) => hasCode(error, code));
}

/** False only when the connection is refused, which is what a dead daemon's socket does. A busy daemon's does not. */
export function hasListener(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.on("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", (error) => resolve(!isNotListening(error)));
  });
}
