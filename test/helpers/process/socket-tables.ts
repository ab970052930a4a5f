import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import type { TestContext } from "node:test";

/**
 * Calls `act` at the start of each asynchronous reading of the kernel's socket tables, until the test ends. The reading waits for it, and
 * fails with what it throws.
 */
export function interceptTableReads(t: TestContext, act: (path: string) => Promise<void>): void {
  const { openSync, read } = fs;
  const opened = new Map<number, string>();
  const mockedOpen = t.mock.method(fs, "openSync", (...args: Parameters<typeof openSync>) => {
    const [path] = args;
    const fd = openSync(...args);
    if (typeof path === "string" && path.startsWith("/proc/net/")) opened.set(fd, path);
    return fd;
  });
  const mockedRead = t.mock.method(fs, "read", (...args: Parameters<typeof read>) => {
    const path = opened.get(args[0]);
    if (path === undefined) return read(...args);
    opened.delete(args[0]);
    act(path).then(() => read(...args), args.at(-1) as (error: NodeJS.ErrnoException) => void);
  });
  syncBuiltinESMExports();
  t.after(() => {
    mockedOpen.mock.restore();
    mockedRead.mock.restore();
    syncBuiltinESMExports();
  });
}

/** Makes each asynchronous reading of the kernel's socket tables fail with this error code. */
export function failTableReads(t: TestContext, code: string): void {
  interceptTableReads(t, () => Promise.reject(Object.assign(new Error(`${code}: on purpose`), { code })));
}
