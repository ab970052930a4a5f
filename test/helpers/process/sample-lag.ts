const SAMPLE_MS = 20;

/** Measures how late timers are. Returns a function that ends this and returns the longest delay in milliseconds. */
export function sampleLag(): () => number {
  let [longest, last] = [0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - SAMPLE_MS);
    last = now;
  }, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    return longest;
  };
}
