import { setTimeout as delay } from "node:timers/promises";

const LIMIT_MS = 60_000;

/** Asks again and again until there is an answer other than null; fails when there is none in time. */
export async function waitUntil<T>(what: string, ask: () => Promise<T | null> | T | null): Promise<T> {
  const deadline = Date.now() + LIMIT_MS;
  while (Date.now() < deadline) {
    const answer = await ask();
    if (answer !== null) return answer;
    await delay(20);
  }
  throw new Error(`waited in vain for ${what}`);
}
