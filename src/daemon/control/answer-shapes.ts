import type {
  CapturedExchange,
  CapturedMessage,
  CapturedSummary,
  CaptureStatus,
} from "../../core/capture/captured.ts";
import type { BudgetsStatus, BudgetStatus } from "../../core/budget/budget-status.ts";
import { BUDGET_CLASSES, BUDGET_PERIODS } from "../../core/budget/kinds.ts";
import type { Problem } from "../../core/config/problem.ts";
import {
  anyWord,
  either,
  FLAG,
  listOf,
  mapOf,
  maybe,
  NUMBER,
  nullOr,
  objectOf,
  pairOf,
  TEXT,
  wordOf,
  type DataShape,
} from "../../core/data-shape.ts";
import { parseRecord } from "../../core/ledger/parse-record.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import type { RunningRequest } from "../../core/ledger/running-request.ts";
import type { AccountStatus } from "../../core/limits/account-limits.ts";
import type { LimitHold } from "../../core/limits/keep.ts";
import type { Pause } from "../../core/policy/pauses.ts";
import type { Refusal } from "../../core/refusals/refusal.ts";
import type { Tokens } from "../../core/usage/reading.ts";
import type { MetricsAnswer } from "../metrics.ts";
import type { DaemonStatus } from "../status.ts";
import type { KeyTests } from "./test-keys.ts";

/** What the daemon answers to each question of a command. */
export interface Answers {
  status: DaemonStatus;
  running: { total: number; requests: RunningRequest[] };
  budgets: BudgetsStatus;
  /** `at`: when it was so; ISO 8601, UTC. */
  limits: { at: string; accounts: AccountStatus[]; holds: LimitHold[] };
  "lift-budgets": BudgetsStatus;
  "reset-budget": BudgetsStatus;
  metrics: MetricsAnswer;
  pause: { pauses: Pause[]; cut: number };
  resume: { pauses: Pause[]; wasPaused: boolean };
  "test-keys": KeyTests;
  "check-pass": { pass: string };
  decide: DecisionNow;
  "approve-dashboard": object;
  captures: { captures: CaptureStatus[]; requests: CapturedSummary[] };
  "start-capture": CaptureStatus;
  /** null where none was running. */
  "stop-capture": { stopped: CaptureStatus | null };
  "delete-capture": { deleted: number };
  captured: CapturedExchange;
}

/** What the daemon would say of a request at this moment. */
export interface DecisionNow {
  /** Its configuration file. */
  config: string;
  /** The account of the plan at whose address the request would arrive; null for the address of a key. */
  account: string | null;
  /** null for a request that would go. */
  refusal: Pick<Refusal, "code" | "problem" | "reason" | "advice" | "command"> | null;
}

const COUNTS = mapOf(NUMBER);

/** It arrives as text. */
const DATE: DataShape<Date> = { findFault: (value, path) => TEXT.findFault(value, path) };

/** Of a member that daemons of earlier versions do not send. Commands take a missing one for null. */
function sinceLater<T>(shape: DataShape<T>): DataShape<T> {
  return { findFault: (value, path) => (value === undefined ? null : shape.findFault(value, path)) };
}

const BUDGETS: { [Name in keyof BudgetsStatus]: DataShape<BudgetsStatus[Name]> } = {
  budgets: listOf(
    objectOf<BudgetStatus>({
      id: TEXT,
      scope: either(
        objectOf<{ kind: "all" }>({ kind: wordOf("all") }),
        objectOf({ kind: wordOf("tool", "group", "project", "key"), name: TEXT }),
      ),
      limit: either(
        objectOf({ usd: NUMBER }),
        objectOf({ tokens: NUMBER, class: nullOr(wordOf(...BUDGET_CLASSES)) }),
      ),
      window: either(objectOf({ per: wordOf(...BUDGET_PERIODS) }), objectOf({ rolling: NUMBER })),
      action: wordOf("refuse", "warn"),
      warn: listOf(NUMBER),
      unpriced: wordOf("dearest", "allow"),
      notify: FLAG,
      amount: TEXT,
      spent: TEXT,
      assumed: TEXT,
      reserved: TEXT,
      percent: NUMBER,
      since: TEXT,
      until: TEXT,
      opensAt: nullOr(TEXT),
      perHour: TEXT,
      spentAt: nullOr(TEXT),
      isWhole: FLAG,
      assumedFor: listOf(objectOf({ model: TEXT, amount: TEXT })),
      isLocked: sinceLater(FLAG),
    }),
  ),
  lifts: listOf(objectOf({ tool: nullOr(TEXT), until: TEXT })),
};

const PAUSES: DataShape<Pause[]> = listOf(
  either(
    objectOf<{ kind: "all"; since: string }>({ kind: wordOf("all"), since: TEXT }),
    objectOf({ kind: wordOf("tool", "group"), name: TEXT, since: TEXT }),
  ),
);

const PROBLEMS: DataShape<Problem[]> = listOf(
  objectOf<Problem>({
    file: maybe(TEXT),
    path: TEXT,
    line: nullOr(NUMBER),
    message: TEXT,
    hint: maybe(TEXT),
  }),
);

const LIMITS: DataShape<AccountStatus[]> = listOf(
  objectOf<AccountStatus>({
    account: TEXT,
    windows: listOf(
      objectOf<AccountStatus["windows"][number]>({
        window: TEXT,
        state: wordOf("seen", "reset"),
        usedPercent: nullOr(NUMBER),
        limit: nullOr(NUMBER),
        remaining: nullOr(NUMBER),
        resetsAt: nullOr(TEXT),
        seenAt: TEXT,
      }),
    ),
  }),
);

const HOLDS: DataShape<LimitHold[]> = listOf(
  objectOf<LimitHold>({
    kind: wordOf("tool", "group"),
    name: TEXT,
    keep: NUMBER,
    lift: TEXT,
    account: TEXT,
    window: TEXT,
    leftPercent: NUMBER,
    resetsAt: TEXT,
  }),
);

const CAPTURE = objectOf<CaptureStatus>({
  id: TEXT,
  tool: TEXT,
  state: wordOf("running", "ended"),
  startedAt: TEXT,
  until: TEXT,
  ended: nullOr(TEXT),
  deletedAt: TEXT,
  requests: NUMBER,
  most: nullOr(NUMBER),
  bytes: NUMBER,
});

const CAPTURED_SUMMARY = objectOf<CapturedSummary>({
  id: TEXT,
  capture: TEXT,
  at: TEXT,
  session: nullOr(TEXT),
  agentKind: nullOr(TEXT),
  model: nullOr(TEXT),
  method: TEXT,
  path: TEXT,
  status: nullOr(NUMBER),
  outcome: TEXT,
  requestBytes: NUMBER,
  responseBytes: NUMBER,
});

const CAPTURED_MESSAGE = objectOf<CapturedMessage>({
  headers: listOf(pairOf(TEXT)),
  wireBytes: NUMBER,
  lack: nullOr(TEXT),
});

/** Records are checked where the ledger is read. */
const RECORD: DataShape<UsageRecord> = {
  findFault: (value, path) => (typeof parseRecord(JSON.stringify(value)) === "string" ? path : null),
};

const STATUS = objectOf<DaemonStatus>({
  ...BUDGETS,
  at: TEXT,
  version: TEXT,
  build: sinceLater(nullOr(TEXT)),
  pid: NUMBER,
  startedAt: TEXT,
  state: wordOf("serving", "stopping"),
  listening: listOf(TEXT),
  socket: sinceLater(nullOr(TEXT)),
  access: objectOf<DaemonStatus["access"]>({
    mode: wordOf("open", "token"),
    peerUid: listOf(NUMBER),
    tokens: objectOf({
      registered: NUMBER,
      leased: NUMBER,
      problem: nullOr(objectOf({ message: TEXT, hint: nullOr(TEXT) })),
    }),
  }),
  upstreams: listOf(
    objectOf<DaemonStatus["upstreams"][number]>({
      name: TEXT,
      baseUrl: TEXT,
      credential: sinceLater(wordOf("key", "client")),
      isSandbox: FLAG,
      modelsProblem: nullOr(TEXT),
      cooldownMs: nullOr(NUMBER),
      lastExchange: nullOr(objectOf({ at: TEXT, outcome: anyWord(), status: nullOr(NUMBER) })),
      lastFailure: nullOr(objectOf({ at: TEXT, reason: TEXT })),
      failing: nullOr(objectOf({ kind: anyWord(), failed: NUMBER, of: NUMBER, summary: TEXT })),
      workedAt: nullOr(TEXT),
    }),
  ),
  groups: listOf(objectOf({ name: TEXT, models: nullOr(listOf(TEXT)), tools: listOf(TEXT) })),
  limits: sinceLater(LIMITS),
  holds: sinceLater(HOLDS),
  pauses: PAUSES,
  captures: sinceLater(listOf(CAPTURE)),
  refused: objectOf<DaemonStatus["refused"]>({
    codes: COUNTS,
    checks: NUMBER,
    newest: nullOr(
      objectOf({
        ts: TEXT,
        refused: anyWord(),
        status: NUMBER,
        tool: nullOr(TEXT),
        method: TEXT,
        path: TEXT,
      }),
    ),
  }),
  outbound: listOf(TEXT),
  keys: listOf(
    objectOf({
      upstream: TEXT,
      name: TEXT,
      source: TEXT,
      state: TEXT,
      problem: nullOr(TEXT),
      at: nullOr(TEXT),
      workedAt: nullOr(TEXT),
      expiresAt: nullOr(TEXT),
      refreshFailure: nullOr(objectOf({ at: TEXT, problem: TEXT })),
    }),
  ),
  config: objectOf<DaemonStatus["config"]>({
    path: TEXT,
    exists: FLAG,
    managed: nullOr(objectOf({ path: TEXT, locked: listOf(TEXT) })),
    loadedAt: TEXT,
    judgedAt: TEXT,
    problems: PROBLEMS,
    overruled: PROBLEMS,
  }),
  ledger: objectOf<DaemonStatus["ledger"]>({
    directory: TEXT,
    written: NUMBER,
    waiting: NUMBER,
    lost: NUMBER,
    lastError: nullOr(TEXT),
    freeBytes: nullOr(NUMBER),
  }),
  export: nullOr(
    objectOf({
      endpoint: TEXT,
      pid: nullOr(NUMBER),
      counts: objectOf({ sent: NUMBER, rejected: NUMBER, skipped: NUMBER, unreadable: NUMBER }),
      lastAcceptedAt: nullOr(TEXT),
      problem: nullOr(objectOf({ since: TEXT, reason: TEXT, hint: nullOr(TEXT) })),
      rejection: nullOr(TEXT),
    }),
  ),
  openExchanges: NUMBER,
  bufferedBytes: NUMBER,
  lastError: nullOr(objectOf({ at: TEXT, message: TEXT })),
});

const RUNNING = objectOf<RunningRequest>({
  id: TEXT,
  ts: TEXT,
  tool: TEXT,
  session: nullOr(TEXT),
  agent_kind: sinceLater(nullOr(anyWord())),
  project: nullOr(TEXT),
  branch: nullOr(TEXT),
  key: TEXT,
  upstream: TEXT,
  method: TEXT,
  route: TEXT,
  status: nullOr(NUMBER),
  model: nullOr(TEXT),
  model_requested: nullOr(TEXT),
  stream: nullOr(FLAG),
  tokens: nullOr(
    objectOf<Tokens>({
      input_uncached: NUMBER,
      cache_read: NUMBER,
      cache_write: NUMBER,
      cache_write_5m: NUMBER,
      cache_write_1h: NUMBER,
      cache_write_30m: NUMBER,
      cache_write_12h: NUMBER,
      cache_write_ttl_unknown: NUMBER,
      input_total: NUMBER,
      output: NUMBER,
      reasoning: nullOr(NUMBER),
      total: NUMBER,
    }),
  ),
  ttft_ms: nullOr(NUMBER),
  duration_ms: NUMBER,
  bytes_in: NUMBER,
  bytes_out: NUMBER,
});

const KEY_TESTS = objectOf<KeyTests>({
  configFile: TEXT,
  trust: listOf(objectOf({ name: TEXT, path: nullOr(TEXT) })),
  tests: listOf(
    objectOf<KeyTests["tests"][number]>({
      upstream: TEXT,
      key: TEXT,
      check: nullOr(
        objectOf({
          models: NUMBER,
          proxy: nullOr(TEXT),
          connectMs: NUMBER,
          responseMs: NUMBER,
          tls: nullOr(objectOf({ protocol: TEXT, certificateEnds: DATE })),
          date: nullOr(NUMBER),
        }),
      ),
      failure: nullOr(
        objectOf({
          message: TEXT,
          likelyBaseUrl: nullOr(TEXT),
          isUntrusted: FLAG,
          code: wordOf("refused", "undecided", "web_page", "redirect", "unreachable", "no_key"),
          hint: nullOr(TEXT),
        }),
      ),
    }),
  ),
});

/** What each answer must be like. A daemon of another version, or another program, may send anything. */
export const ANSWER_SHAPES: { [Question in keyof Answers]: DataShape<Answers[Question]> } = {
  status: STATUS,
  running: objectOf({ total: NUMBER, requests: listOf(RUNNING) }),
  budgets: objectOf<BudgetsStatus>(BUDGETS),
  limits: objectOf({ at: TEXT, accounts: LIMITS, holds: sinceLater(HOLDS) }),
  "lift-budgets": objectOf<BudgetsStatus>(BUDGETS),
  "reset-budget": objectOf<BudgetsStatus>(BUDGETS),
  metrics: objectOf({ text: TEXT, hasUsage: FLAG }),
  pause: objectOf({ pauses: PAUSES, cut: NUMBER }),
  resume: objectOf({ pauses: PAUSES, wasPaused: FLAG }),
  "test-keys": KEY_TESTS,
  "check-pass": objectOf({ pass: TEXT }),
  decide: objectOf<DecisionNow>({
    config: TEXT,
    account: sinceLater(nullOr(TEXT)),
    refusal: nullOr(
      objectOf({ code: anyWord(), problem: TEXT, reason: maybe(TEXT), advice: maybe(TEXT), command: TEXT }),
    ),
  }),
  "approve-dashboard": objectOf<object>({}),
  captures: objectOf({ captures: listOf(CAPTURE), requests: listOf(CAPTURED_SUMMARY) }),
  "start-capture": CAPTURE,
  "stop-capture": objectOf({ stopped: nullOr(CAPTURE) }),
  "delete-capture": objectOf({ deleted: NUMBER }),
  captured: objectOf<CapturedExchange>({
    head: objectOf<CapturedExchange["head"]>({
      capture: TEXT,
      tool: TEXT,
      method: TEXT,
      origin: TEXT,
      path: TEXT,
      request: CAPTURED_MESSAGE,
      response: CAPTURED_MESSAGE,
      record: RECORD,
    }),
    request: TEXT,
    response: TEXT,
  }),
};
