// What pictures and films cost, from their bodies: by the prices of the configuration.
import assert from "node:assert/strict";
import { test } from "node:test";
import { spentBy } from "../../../src/core/budget/spent.ts";
import { boundRequest } from "../../../src/core/budget/estimate.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { Tally } from "../../../src/core/ledger/tally.ts";
import { chargesOf } from "../../../src/core/price/charge.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { chargeFilms } from "../../../src/core/usage/gemini/film-scanner.ts";
import { budgetRequest } from "../../helpers/budget/budget-book.ts";
import { costOf, describeCost, priceBook } from "../../helpers/ledger/prices.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { jsonSetup, readBody } from "../usage/response-bodies.ts";

const PRICES = priceBook(
  {
    google: { baseUrl: "https://generativelanguage.googleapis.com/v1beta", discount: 10 },
    openai: { baseUrl: "https://api.openai.com/v1" },
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none" },
  },
  { "imagen-4.0-*": { picture: 0.04 }, "veo-3.*": { videoSecond: 0.4 }, "dall-e-3": { picture: 0.08 } },
);

const PICTURE = { mimeType: "image/png", bytesBase64Encoded: "AAAA" };

function pictures(count: number, model: string | null = "imagen-4.0-generate-001"): UsageRecord {
  const body = { predictions: Array.from({ length: count }, () => PICTURE) };
  const reading = readBody(body, jsonSetup({ dialect: "gemini" }));
  const route = "/v1beta/models/{id}:predict";
  return usageRecord({ ...reading, upstream: "google", route, model_requested: model });
}

function film(seconds: number, model: string): UsageRecord {
  const reading = readBody({ name: `models/${model}/operations/o-1` }, jsonSetup({ dialect: "gemini" }));
  chargeFilms(reading, seconds);
  const route = "/v1beta/models/{id}:predictLongRunning";
  return usageRecord({ ...reading, upstream: "google", route, model_requested: model });
}

function drawn(count: number, model: string): UsageRecord {
  const data = Array.from({ length: count }, () => ({ url: "https://x.example/1.png" }));
  const reading = readBody({ created: 1, data }, jsonSetup({ dialect: "media" }));
  return usageRecord({
    ...reading,
    upstream: "openai",
    route: "/images/generations",
    model_requested: model,
  });
}

const cost = (record: UsageRecord) => describeCost(costOf(record, PRICES));

test("pictures and seconds of video cost what the configuration says of each, less the discount", () => {
  // 4 * 0.04 * 0.9, 16 * 0.4 * 0.9, 2 * 0.08
  assert.equal(cost(pictures(4)), "0.144 configuration");
  assert.equal(cost(film(16, "veo-3.1-generate-001")), "5.76 configuration");
  assert.equal(cost(drawn(2, "dall-e-3")), "0.16 configuration");
});

test("without a price they are unpriced, by name, and cost nothing where no key is taken", () => {
  assert.equal(cost(pictures(4, "imagen-9")), "unpriced imagen-9: model; at least 0");
  assert.equal(cost(film(8, "veo-2")), "unpriced veo-2: model; at least 0");
  assert.equal(cost(drawn(1, "dall-e-2")), "unpriced dall-e-2: model; at least 0");
  assert.equal(cost({ ...pictures(4, "imagen-9"), upstream: "local" }), "0 free");
});

test("a line says what is counted, and what one costs", () => {
  const found = costOf(film(16, "veo-3.1-generate-001"), PRICES);
  assert.ok(found.kind === "priced" && !found.isLowerBound);
  assert.deepEqual(
    found.lines.map(({ class: name, count, per, amount }) => [name, count, per, formatMoney(amount)]),
    [["video_second", 16, 1, "5.76"]],
  );
});

test("they are requests with a known cost in sums: none of their tokens is missing", () => {
  const tally = new Tally(PRICES);
  for (const record of [pictures(4), pictures(1), film(8, "veo-3.1-generate-001")])
    tally.addRequest({ record, source: record }, chargesOf(record).own);
  const { amount, isExact, unknown } = tally.spending.cost(PRICES);
  // 5 * 0.036 + 8 * 0.36
  assert.deepEqual([formatMoney(amount), isExact, unknown], ["3.06", true, 0]);
  assert.deepEqual([tally.requests, tally.absent, tally.partial], [3, 0, 0]);
});

function spent(record: UsageRecord) {
  const { known, assumed } = spentBy({ record, source: record }, PRICES);
  return [formatMoney(known.usd), formatMoney(assumed.usd), known.tokens.all, assumed.tokens.all];
}

test("budgets count them, and assume a price where there is none", () => {
  assert.deepEqual(spent(pictures(4)), ["0.144", "0", 0, 0]);
  assert.deepEqual(spent(pictures(4, "imagen-9")), ["0", "1", 0, 0]);
  assert.deepEqual(spent(film(8, "veo-2")), ["0", "6", 0, 0]);
});

function reserved(changes: Parameters<typeof budgetRequest>[0]): string {
  const request = budgetRequest({ upstream: "google", input: 30_000, output: 4_096, ...changes });
  const { input, output } = boundRequest(request, PRICES, Date.parse("2026-11-20"));
  return formatMoney(input.usd + output.usd);
}

test("budgets reserve what a request asks for, and 8 seconds for a film of unknown length", () => {
  assert.equal(reserved({ model: "imagen-4.0-generate-001", choices: 4 }), "0.144");
  assert.equal(reserved({ model: "veo-3.1-generate-001", choices: 2, seconds: 6 }), "4.32");
  assert.equal(reserved({ model: "veo-3.1-generate-001" }), "2.88");
});
