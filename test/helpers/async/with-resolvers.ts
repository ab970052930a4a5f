/** A promise and what settles it: `Promise.withResolvers`, which Node has from 22 on. */
export function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: ((value: T) => void) | undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  if (resolve === undefined) throw new Error("a promise calls its executor at once");
  return { promise, resolve };
}
