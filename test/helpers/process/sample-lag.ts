import { setTimeout as delay } from "node:timers/promises";

const SAMPLE_MS = 20;

/**
 * Measures how late timers are here, and how long a daemon takes to answer: on a busy machine it may wait for the processor while this process
 * does not. Returns a function that ends this and returns the longest delay of both in milliseconds.
 */
export function sampleLag(daemon: { status(): Promise<unknown> }): () => number {
  const over = new AbortController();
  let [longest, last, askedAt] = [0, performance.now(), performance.now()];
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last - SAMPLE_MS, now - askedAt);
    last = now;
  };
  const timer = setInterval(look, SAMPLE_MS);
  const ask = async (): Promise<void> => {
    while (!over.signal.aborted) {
      askedAt = performance.now();
      await daemon.status();
      look();
      askedAt = Infinity;
      await delay(SAMPLE_MS);
    }
  };
  // A daemon that is gone answers no more.
  ask().catch(() => {});
  return () => {
    look();
    over.abort();
    clearInterval(timer);
    return longest;
  };
}
