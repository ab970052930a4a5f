import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import type { TestContext } from "node:test";

/**
 * Has `act` done before each reading of the kernel's tables of sockets, until the test ends: what it waits for holds the
 * reading up, what it throws is how the reading fails.
 */
export function interceptReadings(t: TestContext, act: (path: string) => Promise<void>): void {
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

/** Makes each reading fail as the system would with this error code. */
export function failReadings(t: TestContext, code: string): void {
  interceptReadings(t, () => Promise.reject(Object.assign(new Error(`${code}: on purpose`), { code })));
}
