/** Runs `work` and catches errors of the class `expected`. Rejects with any other error. */
export async function attempt<T, E extends Error>(
  expected: new (...args: never[]) => E,
  work: () => T | Promise<T>,
): Promise<{ value: T; failure: null } | { value: null; failure: E }> {
  try {
    return { value: await work(), failure: null };
  } catch (failure) {
    if (!(failure instanceof expected)) throw failure;
    return { value: null, failure };
  }
}
