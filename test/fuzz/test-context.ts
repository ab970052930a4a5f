import assert from "node:assert/strict";
import { once } from "node:events";
import type { TestContext } from "node:test";

/** Calls `act` with a test context of its own and runs what was registered there. Rejects on an uncaught exception. */
export async function withTestContext(act: (t: TestContext) => Promise<void>): Promise<void> {
  const endings: (() => unknown)[] = [];
  // The helpers use nothing else of a test context.
  const t = { after: (end: () => unknown) => void endings.push(end) } as unknown as TestContext;
  const over = new AbortController();
  const crashed = once(process, "uncaughtException", over).then(([error]) => assert.ifError(error));
  try {
    await Promise.race([act(t), crashed]);
  } finally {
    for (const end of endings.toReversed()) await end();
    over.abort();
  }
}
