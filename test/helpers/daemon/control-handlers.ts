import type { ControlHandlers } from "../../../src/adapters/control-socket.ts";
import type { DaemonStatus } from "../../../src/daemon/status.ts";

const STARTED = "2026-11-21T12:00:00.000Z";

/** Returns the status of a daemon without upstreams, with these changes. */
export function daemonStatusWith(changes: Partial<DaemonStatus>): DaemonStatus {
  return {
    at: STARTED,
    version: "0.1.0",
    build: null,
    pid: 4711,
    startedAt: STARTED,
    state: "serving",
    listening: ["127.0.0.1:8655"],
    socket: null,
    access: { mode: "open", peerUid: [], tokens: { registered: 0, leased: 0, problem: null } },
    upstreams: [],
    groups: [],
    budgets: [],
    lifts: [],
    limits: [],
    holds: [],
    pauses: [],
    captures: [],
    refused: { codes: {}, checks: 0, newest: null },
    outbound: [],
    keys: [],
    config: {
      path: "/nowhere/config.jsonc",
      exists: true,
      managed: null,
      loadedAt: STARTED,
      judgedAt: STARTED,
      problems: [],
      overruled: [],
    },
    ledger: { directory: "/nowhere", written: 0, waiting: 0, lost: 0, lastError: null, freeBytes: null },
    export: null,
    openExchanges: 0,
    bufferedBytes: 0,
    lastError: null,
    ...changes,
  };
}

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
    captures: () => ({}),
    "start-capture": () => ({}),
    "stop-capture": () => ({}),
    "delete-capture": () => ({}),
    captured: () => ({}),
    budgets: () => ({}),
    limits: () => ({}),
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
