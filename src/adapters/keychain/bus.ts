import { execFile } from "node:child_process";

/** The bus's answer, its error text, or null where busctl is not installed and so nobody can be asked. */
export type BusAnswer = { ok: true; data: unknown } | { ok: false; message: string } | null;

/**
 * Makes one call on the D-Bus session bus through systemd's busctl, which never shows a prompt and ends in time
 * (facts/platform.md 1.4).
 * @param request busctl's own words, from the verb on; none of it is secret, since `ps` shows it
 */
export function callBus(
  request: readonly string[],
  env: Record<string, string>,
  timeoutMs: number,
): Promise<BusAnswer> {
  const argv = ["--user", "--json=short", `--timeout=${timeoutMs / 1000}`, "--", ...request];
  // busctl counts from the moment it is connected; a bus that accepts and says nothing is what our own limit is for.
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

/** busctl prints `{"type": SIGNATURE, "data": …}`; anything else becomes undefined. */
function dataOf(stdout: string): unknown {
  try {
    const answer: unknown = JSON.parse(stdout);
    return typeof answer === "object" && answer !== null && "data" in answer ? answer.data : undefined;
  } catch {
    return undefined;
  }
}
