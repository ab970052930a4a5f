import { setTimeout as delay } from "node:timers/promises";
import { LIMIT_MS } from "./limit.ts";

/** Polls until `check` returns something other than null, and returns that; throws after {@link LIMIT_MS}. */
export async function waitUntil<T>(what: string, check: () => Promise<T | null> | T | null): Promise<T> {
  const deadline = Date.now() + LIMIT_MS;
  while (Date.now() < deadline) {
    const result = await check();
    if (result !== null) return result;
    await delay(20);
  }
  throw new Error(`timed out waiting for ${what}`);
}
