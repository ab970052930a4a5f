import assert from "node:assert/strict";
import { test } from "node:test";
import type { Status } from "../../../../src/local/dashboard/page/feed-types.ts";
import { noticesOf } from "../../../../src/local/dashboard/page/notices.ts";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { UNUSED_UPSTREAM as UPSTREAM } from "../../../helpers/client/unused-upstream.ts";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { writeKeyFile } from "../../../helpers/keychain/key-file.ts";

const BUDGET: Status["budgets"][number] = {
  id: "all: usd per day",
  scope: { kind: "all" },
  limit: { usd: 20 },
  window: { per: "day" },
  warn: [0.8, 1],
  percent: 100,
  assumed: "0",
  assumed_for: [],
  spent: "20",
  amount: "20",
  action: "refuse",
  until: "2026-11-25T00:00:00.000Z",
  opens_at: null,
  is_locked: false,
  spent_at: null,
};
/** Of its limit of 20 dollars, 8 are known. */
const ASSUMED = {
  ...BUDGET,
  percent: 105,
  spent: "21",
  assumed: "13",
  assumed_for: [{ model: "odd", amount: "13" }],
} as const;
const CODEX = { ...BUDGET, scope: { kind: "tool", name: "codex" } } as const;
const WELL: Status = {
  version: "0.1.0",
  state: "serving",
  started_at: "2026-11-24T00:00:00.000Z",
  open_exchanges: 0,
  listening: [],
  upstreams: [UPSTREAM],
  keys: [
    {
      upstream: "default",
      name: "default",
      source: "keychain",
      state: "present",
      problem: null,
      expires_at: null,
      refresh_failure: null,
    },
  ],
  config: { path: "/config.jsonc", loaded_at: "2026-11-24T00:00:00.000Z", problems: [], overruled: [] },
  ledger: { directory: "/ledger", written: 1, waiting: 0, lost: 0, last_error: null, free_bytes: null },
  budgets: [{ ...BUDGET, percent: 99 }],
  limits: [],
  holds: [],
  lifts: [],
  pauses: [],
  captures: [],
  refused: { codes: {} },
  last_error: null,
};

for (const [what, change, expected] of [
  ["all is well", {}, []],
  [
    "a budget is spent",
    { budgets: [BUDGET] },
    [
      "failure: Requests are refused. The budget of $20.00 (all tools per day) is spent.",
      "To let requests go on, type: tollkeeper budget lift --all",
    ],
  ],
  [
    "the budgets of a tool and of all are spent",
    { budgets: [CODEX, BUDGET] },
    [
      "failure: Requests are refused. 2 budgets are spent: codex per day, all tools per day.",
      "To let requests go on, type: tollkeeper budget lift --all",
    ],
  ],
  [
    "a budget counts as spent, because of a model without a price",
    { budgets: [ASSUMED] },
    [
      "failure: Requests are refused. The budget of $20.00 (all tools per day) counts $8.00 known and $13.00 assumed, as odd has no price.",
      "Set its price: tollkeeper prices odd",
      "Or let requests go on: tollkeeper budget lift --all",
    ],
  ],
  [
    "a spent budget has a part that is assumed",
    { budgets: [{ ...ASSUMED, spent: "33" }] },
    [
      "failure: Requests are refused. The budget of $20.00 (all tools per day) is spent.",
      "To let requests go on, type: tollkeeper budget lift --all",
    ],
  ],
  [
    "a locked budget counts as spent",
    { budgets: [{ ...ASSUMED, is_locked: true }] },
    [
      "failure: Requests are refused. The budget of $20.00 (all tools per day) counts $8.00 known and $13.00 assumed, as odd has no price.",
      "Set its price: tollkeeper prices odd",
    ],
  ],
  [
    "two budgets count as spent, because of three models, and another is spent",
    {
      budgets: [
        CODEX,
        ASSUMED,
        {
          ...ASSUMED,
          window: { rolling: 5 },
          assumed_for: ["odd", "new", "other"].map((model) => ({ model, amount: "4" })),
        },
      ],
    },
    [
      "failure: Requests are refused. 2 budgets count as spent: all tools per day, all tools in 5 hours. A part is assumed, as odd and new and 1 more have no price.",
      "Set a price: tollkeeper prices odd",
      "Set a price: tollkeeper prices new",
      "Or let requests go on: tollkeeper budget lift --all",
      "failure: Requests of codex are refused. The budget of $20.00 (codex per day) is spent.",
      "To let requests go on, type: tollkeeper budget lift codex",
    ],
  ],
  [
    "a spent budget is lifted",
    { budgets: [CODEX], lifts: [{ tool: "codex", until: "2099-01-01T00:00:00.000Z" }] },
    [],
  ],
  ["a budget that only warns is spent", { budgets: [{ ...BUDGET, action: "warn" }] }, []],
  [
    "an upstream fails",
    {
      upstreams: [
        {
          ...UPSTREAM,
          failing: {
            kind: "unreachable",
            failed: 1,
            of: 1,
            summary: "1 of 1 request failed: connection refused",
          },
        },
      ],
    },
    ["failure: Upstream default fails: 1 of 1 request failed: connection refused"],
  ],
  [
    "nothing is configured",
    { upstreams: [{ ...UPSTREAM, is_sandbox: true }] },
    [
      "warning: Sandbox: responses and tokens are made up, and nothing is spent.",
      "To use a service, type: tollkeeper setup",
    ],
  ],
  [
    "a key is locked",
    {
      keys: [{ ...WELL.keys[0], name: "work", problem: "the keychain is locked" } as Status["keys"][number]],
    },
    ["failure: Key work: the keychain is locked"],
  ],
  [
    "the disk is full",
    { ledger: { ...WELL.ledger, waiting: 3 } },
    ["failure: Records cannot be written to the ledger."],
  ],
  [
    "requests are paused",
    { pauses: [{}] },
    ["warning: Requests are paused.", "To let them go on, type: tollkeeper resume"],
  ],
  [
    "a tool is captured",
    {
      captures: [
        { tool: "codex", state: "running" },
        { tool: "pi", state: "ended" },
      ],
    },
    ["warning: Requests of codex are captured.", "To stop, type: tollkeeper capture stop codex"],
  ],
  [
    "an edit is not accepted",
    { config: { ...WELL.config, problems: [{ path: "listen", message: "is no port" }] } },
    ["warning: The changed configuration is not accepted."],
  ],
  ["the daemon ends", { state: "stopping" }, ["failure: tollkeeper is stopping"]],
] satisfies [string, Partial<Status>, string[]][]) {
  test(`when ${what}, every view says ${expected.join(" ") || "nothing of it"}`, () => {
    const notices = noticesOf({ ...WELL, ...change });
    assert.deepEqual(
      notices.flatMap(({ tone, text, remedies }) => [`${tone}: ${text}`, ...remedies]),
      expected,
    );
  });
}

test(
  "every view shows that an upstream fails, and that a budget is spent",
  { skip: noBrowser },
  async (t) => {
    const { config } = writeKeyFile(t, "http://127.0.0.1:9/v1", "some-key");
    const daemon = await startDaemon(t, {
      config: { ...config, budgets: [{ tokens: 10, per: "day", unpriced: "allow" }] },
    });
    await (await post(daemon, "/t/codex/v1/messages", { model: "m", max_tokens: 5, messages: [] })).text();
    const { page, problems } = await openChromium(t);
    for (const view of ["overview", "requests", "sessions", "live"]) {
      await page.goto(`${daemon.url}/#/${view}`);
      await page.waitForSelector('main[aria-busy="false"]');
      await page.waitForSelector('.notices .failure:has-text("Upstream default fails")');
    }
    // There it would be said twice.
    await page.goto(`${daemon.url}/#/health`);
    await page.waitForSelector('.verdict-line:text-matches("^upstream default fails\\. The rest works\\.$")');
    await page.waitForSelector('.part.of-failure li.failure:has-text("Fails: ")');
    await page.waitForSelector(".notices:empty", { state: "attached" });
    assert.deepEqual(problems, []);
  },
);
