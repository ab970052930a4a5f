/** Longer than anything takes here on a machine with twenty times its work: it ends a test that hangs, and decides nothing else. */
export const LIMIT_MS = 300_000;

/** Resolves like `awaited`. Rejects with what was awaited, and what there was instead, when that never comes. */
export async function withLimit<T>(
  awaited: Promise<T>,
  describe: () => string,
  limitMs = LIMIT_MS,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${limitMs / 1000} s for ${describe()}`)), limitMs);
  });
  try {
    return await Promise.race([awaited, limit]);
  } finally {
    clearTimeout(timer);
  }
}
