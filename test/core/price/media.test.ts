// Costs of Google's models by the kind of token and the size of the prompt, worked out by hand from the prices in the comments: dollars per
// million tokens of @pydantic/genai-prices 0.1.8.
import assert from "node:assert/strict";
import { test } from "node:test";
import { costOf, describeCost, priceBook } from "../../helpers/ledger/prices.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { chargesOf } from "../../../src/core/price/charge.ts";
import { Spending } from "../../../src/core/price/spending.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { jsonSetup, readBody } from "../usage/response-bodies.ts";

const PRICES = priceBook(
  { google: { baseUrl: "https://generativelanguage.googleapis.com/v1beta" } },
  { "own-gemini": { input: 1, output: 2 } },
);

/** The record of a response, as a route of Google's API will leave it. */
function recordOf(model: string, usageMetadata: object, more: object = {}): UsageRecord {
  const body = { candidates: [{ finishReason: "STOP", ...more }], usageMetadata, modelVersion: model };
  const reading = readBody(body, jsonSetup({ dialect: "gemini" }));
  return usageRecord({ upstream: "google", route: "/responses", ts: "2026-11-20T12:00:00.000Z", ...reading });
}

function cost(model: string, usageMetadata: object, more: object = {}): string {
  return describeCost(costOf(recordOf(model, usageMetadata, more), PRICES));
}

const of = (counts: Record<string, number>) =>
  Object.entries(counts).map(([modality, tokenCount]) => ({ modality, tokenCount }));

const HEARD = {
  promptTokenCount: 133,
  candidatesTokenCount: 10,
  thoughtsTokenCount: 21,
  totalTokenCount: 164,
  promptTokensDetails: of({ TEXT: 14, AUDIO: 119 }),
};

test("audio of the input costs what audio costs, and the rest what text costs", () => {
  // gemini-2.5-flash: text 0.3, audio 1, output 2.5: 14 * 0.3 + 119 * 1 + 31 * 2.5
  assert.equal(cost("gemini-2.5-flash", HEARD), "0.0002007");
  // gemini-3.5-flash has one price: 133 * 1.5 + 31 * 9
  assert.equal(cost("gemini-3.5-flash", HEARD), "0.0004785");
});

test("a price of the configuration is that of all kinds", () => {
  assert.equal(cost("own-gemini", HEARD), "0.000195 configuration");
});

test("cached audio costs what cached audio costs", () => {
  const usage = {
    promptTokenCount: 17713,
    cachedContentTokenCount: 17379,
    candidatesTokenCount: 68,
    thoughtsTokenCount: 821,
    totalTokenCount: 18602,
    promptTokensDetails: of({ TEXT: 16, VIDEO: 15780, AUDIO: 1917 }),
    cacheTokensDetails: of({ AUDIO: 1881, TEXT: 15, VIDEO: 15483 }),
  };
  // 36 * 1 + 1881 * 0.1 + 298 * 0.3 + 15498 * 0.03 + 889 * 2.5
  assert.equal(cost("gemini-2.5-flash", usage), "0.00300094");
});

test("a picture that a model has made costs what pictures cost, and the rest of the output what text costs", () => {
  const usage = {
    promptTokenCount: 16,
    candidatesTokenCount: 1307,
    totalTokenCount: 1323,
    candidatesTokensDetails: of({ IMAGE: 1290 }),
  };
  // gemini-2.5-flash-image: 16 * 0.3 + 17 * 2.5 + 1290 * 30
  assert.equal(cost("gemini-2.5-flash-image", usage), "0.0387473");
  // A model whose list has no price of pictures.
  assert.equal(
    cost("gemini-2.5-flash", usage),
    "unpriced gemini-2.5-flash: output_image; at least 0.0000473",
  );
});

test("speech costs what speech costs, also where it is all that a model makes", () => {
  const usage = {
    promptTokenCount: 11,
    candidatesTokenCount: 111,
    totalTokenCount: 122,
    candidatesTokensDetails: of({ AUDIO: 111 }),
  };
  // 11 * 0.5 + 111 * 10
  assert.equal(cost("gemini-2.5-flash-preview-tts", usage), "0.0011155");
  assert.match(cost("gemini-2.5-flash", usage), /^unpriced gemini-2\.5-flash: output_audio; at least /);
});

test("lists by modality are weights: what exceeds its count counts in proportion, and never more than there is", () => {
  // 100 of audio, of which a list says 300 of 600: half.
  const usage = {
    promptTokenCount: 100,
    totalTokenCount: 100,
    promptTokensDetails: of({ TEXT: 300, AUDIO: 300 }),
  };
  assert.equal(cost("gemini-2.5-flash", usage), "0.000065");
  const cached = {
    promptTokenCount: 1344,
    cachedContentTokenCount: 1274,
    totalTokenCount: 1344,
    promptTokensDetails: of({ TEXT: 54, DOCUMENT: 1290 }),
    cacheTokensDetails: of({ TEXT: 51, IMAGE: 1223 }),
  };
  // A document that the cache calls an image: 70 * 0.3 + 1274 * 0.03
  assert.equal(cost("gemini-2.5-flash", cached), "0.00005922");
});

test("the size of the whole prompt decides the price of each kind, cached input included", () => {
  const usage = {
    promptTokenCount: 262_960,
    cachedContentTokenCount: 257_955,
    candidatesTokenCount: 1744,
    totalTokenCount: 264_704,
    promptTokensDetails: of({ TEXT: 162_960, IMAGE: 100_000 }),
  };
  // gemini-2.5-pro above 200,000: 5005 * 2.5 + 257,955 * 0.25 + 1744 * 15
  assert.equal(cost("gemini-2.5-pro", usage), "0.10316125");
  assert.equal(cost("gemini-2.5-pro", { promptTokenCount: 200_000, totalTokenCount: 200_000 }), "0.25");
  assert.equal(cost("gemini-2.5-pro", { promptTokenCount: 200_001, totalTokenCount: 200_001 }), "0.5000025");
});

test("whether what tools fed back makes a prompt long is not known, so that is unpriced", () => {
  const usage = { promptTokenCount: 150_000, toolUsePromptTokenCount: 60_000, totalTokenCount: 210_000 };
  assert.equal(cost("gemini-2.5-pro", usage), "unpriced gemini-2.5-pro: long context; at least 0.2625");
  // 50,000 more do not: 170,000 * 1.25
  const short = { promptTokenCount: 150_000, toolUsePromptTokenCount: 20_000, totalTokenCount: 170_000 };
  assert.equal(cost("gemini-2.5-pro", short), "0.2125");
});

const served = (trafficType: string) => ({
  promptTokenCount: 1000,
  candidatesTokenCount: 100,
  totalTokenCount: 1100,
  trafficType,
});

test("flex is half, but not of what was cached; priority and provisioned throughput are unpriced by name", () => {
  // gemini-3.5-flash: (1000 * 1.5 + 100 * 9) / 2
  assert.equal(cost("gemini-3.5-flash", served("ON_DEMAND_FLEX")), "0.0012");
  assert.equal(cost("gemini-3.5-flash", served("ON_DEMAND")), "0.0024");
  assert.match(
    cost("gemini-3.5-flash", served("ON_DEMAND_PRIORITY")),
    /^unpriced gemini-3\.5-flash: tier priority; /,
  );
  assert.match(cost("gemini-3.5-flash", served("PROVISIONED_THROUGHPUT")), /: tier provisioned_throughput; /);
  const cached = { ...served("ON_DEMAND_FLEX"), cachedContentTokenCount: 500 };
  assert.match(cost("gemini-3.5-flash", cached), /: tier flex; at least 0\.000825$/);
});

test("searches count once for each prompt before Gemini 3, and each by itself since", () => {
  const grounded = { groundingMetadata: { webSearchQueries: ["a", "b", "c"] } };
  const calls = (model: string) =>
    chargesOf(recordOf(model, { promptTokenCount: 1 }, grounded)).own[0]?.tools;
  assert.deepEqual(calls("gemini-2.5-pro"), { web_search: 1 });
  assert.deepEqual(calls("gemini-3-flash-preview"), { web_search: 3 });
  assert.match(cost("gemini-3-flash-preview", { promptTokenCount: 1 }, grounded), /: web_search; /);
});

test("the sum of many requests costs what they cost one by one, whatever their kinds", () => {
  const records = [
    recordOf("gemini-2.5-flash", HEARD),
    recordOf("gemini-2.5-flash", HEARD),
    recordOf("gemini-2.5-flash", { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 }),
    recordOf("gemini-2.5-flash", { ...HEARD, promptTokensDetails: of({ IMAGE: 100, AUDIO: 33 }) }),
  ];
  const spending = new Spending(PRICES);
  for (const record of records) spending.addRequest(record, chargesOf(record).own);
  const again = new Spending(PRICES);
  again.addEncoded(JSON.parse(JSON.stringify(spending.encode())) as ReturnType<Spending["encode"]>);
  const { amount, isExact, unpriced } = again.cost(PRICES);
  const one = (record: UsageRecord) => Number(describeCost(costOf(record, PRICES)));
  assert.equal(
    Number(formatMoney(amount)).toFixed(12),
    records.reduce((sum, record) => sum + one(record), 0).toFixed(12),
  );
  assert.deepEqual([isExact, unpriced], [true, []]);
});
