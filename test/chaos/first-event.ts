import type { EventEmitter } from "node:events";

/** Resolves with the name of the first of these events. `error` is an event like any other. */
export function firstEvent<Name extends string>(
  emitter: EventEmitter,
  ...names: readonly Name[]
): Promise<Name> {
  return new Promise((resolve) => {
    const listeners = names.map((name) => {
      const listener = () => {
        for (const [event, known] of listeners) emitter.off(event, known);
        resolve(name);
      };
      emitter.on(name, listener);
      return [name, listener] as const;
    });
  });
}
