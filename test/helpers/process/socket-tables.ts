import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import type { TestContext } from "node:test";

/**
 * Calls `act` before each asynchronous read of the kernel's socket tables, until the test ends. The read waits for it, and
 * fails with what it throws.
 */
export function interceptTableReads(t: TestContext, act: (path: string) => Promise<void>): void {
  const { open } = fs;
  const mocked = t.mock.method(fs, "open", async (...args: Parameters<typeof open>) => {
    const [path] = args;
    if (typeof path === "string" && path.startsWith("/proc/net/")) await act(path);
    return open(...args);
  });
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
}

/** Makes each asynchronous read of the kernel's socket tables fail with this error code. */
export function failTableReads(t: TestContext, code: string): void {
  interceptTableReads(t, () => Promise.reject(Object.assign(new Error(`${code}: on purpose`), { code })));
}
