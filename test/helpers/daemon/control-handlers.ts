import type { ControlHandlers } from "../../../src/adapters/control-socket.ts";

/** Returns handlers that do nothing, except for those given. */
export function controlHandlers(given: Partial<ControlHandlers> = {}): ControlHandlers {
  return {
    status: () => ({ pid: 1 }),
    "check-pass": () => ({}),
    decide: () => ({ refusal: null }),
    running: () => ({}),
    "approve-dashboard": () => ({}),
    "end-dashboard-sessions": () => {},
    statusline: () => ({}),
    "test-keys": () => ({}),
    budgets: () => ({}),
    metrics: () => ({}),
    "lift-budgets": () => ({}),
    "reset-budget": () => ({}),
    pause: () => ({}),
    resume: () => ({}),
    reload: () => {},
    "keys-changed": () => {},
    "tokens-changed": () => {},
    drain: () => {},
    tail: () => () => {},
    lease: () => () => {},
    ...given,
  };
}
