/** Stands in for `Promise.withResolvers`, which Node has since version 22. */
export function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: ((value: T) => void) | undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  if (resolve === undefined) throw new Error("a promise calls its executor at once");
  return { promise, resolve };
}
