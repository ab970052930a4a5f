/** What {@link attempt} resolves with. */
type Attempt<T, E> = { value: T; failure: null } | { value: null; failure: E };

/** Does some work and catches errors of one class. Rejects with any other error. */
export async function attempt<T, E extends Error>(
  expected: new (...args: never[]) => E,
  work: () => T | Promise<T>,
): Promise<Attempt<T, E>> {
  try {
    return { value: await work(), failure: null };
  } catch (failure) {
    if (!(failure instanceof expected)) throw failure;
    return { value: null, failure };
  }
}
