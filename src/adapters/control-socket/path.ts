import { Failure, hasCode } from "../../core/failure.ts";

/** `sun_path` with its closing NUL holds 108 bytes on Linux, 104 on macOS (unix(7), unix(4)). */
const MAX_PATH_BYTES = process.platform === "linux" ? 107 : 103;

/** Throws a Failure for a path that libuv may silently truncate, which would name a different socket. */
export function refuseLongPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= MAX_PATH_BYTES) return;
  throw new Failure(
    `the control socket's path has ${bytes} bytes, but the system allows at most ${MAX_PATH_BYTES}: ${path}`,
    "use a shorter directory with: export XDG_RUNTIME_DIR=/run/user/$(id -u)",
  );
}

/** True for the error of connecting to a socket on which no daemon listens. */
export function isNotListening(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ECONNREFUSED"].some((code) => hasCode(error, code));
}
