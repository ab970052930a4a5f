import type { ControlHandlers } from "../../../src/adapters/control-socket.ts";

/** Handlers that do nothing, but for those given. */
export function controlHandlers(given: Partial<ControlHandlers> = {}): ControlHandlers {
  return {
    status: () => ({ pid: 1 }),
    reload: () => {},
    "keys-changed": () => {},
    "tokens-changed": () => {},
    drain: () => {},
    tail: () => () => {},
    lease: () => () => {},
    ...given,
  };
}
