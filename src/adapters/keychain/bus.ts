import { execFile } from "node:child_process";

/** The reply, or the bus's error text; null when busctl is not installed. */
export type BusReply = { ok: true; data: unknown } | { ok: false; message: string } | null;

/**
 * Makes one call on the D-Bus session bus with systemd's busctl, which never shows a prompt and has a timeout
 * (docs/platform.md section 1).
 * @param request busctl's arguments, from the verb on; nothing secret, since `ps` shows them
 */
export function callBus(
  request: readonly string[],
  env: Record<string, string>,
  timeoutMs: number,
): Promise<BusReply> {
  const argv = ["--user", "--json=short", `--timeout=${timeoutMs / 1000}`, "--", ...request];
  // busctl's own timeout starts once it is connected. This one covers a bus that accepts and never replies.
  const limits = { env, timeout: timeoutMs, killSignal: "SIGKILL" } as const;
  return new Promise((resolve) => {
    execFile("busctl", argv, limits, (error, stdout, stderr) => {
      if (error === null) resolve({ ok: true, data: dataOf(stdout) });
      else if (error.code === "ENOENT") resolve(null);
      else if (error.killed) resolve({ ok: false, message: "Connection timed out" });
      else resolve({ ok: false, message: stderr.trim() });
    });
  });
}

/** Returns the data of busctl's output, `{"type": SIGNATURE, "data": …}`; undefined for any other output. */
function dataOf(stdout: string): unknown {
  try {
    const reply: unknown = JSON.parse(stdout);
    return typeof reply === "object" && reply !== null && "data" in reply ? reply.data : undefined;
  } catch {
    return undefined;
  }
}
