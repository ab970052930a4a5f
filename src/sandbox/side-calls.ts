import { isObject } from "../core/json.ts";
import type { ApiRequest, ApiResponse } from "./api.ts";
import { missingParameter } from "./errors.ts";
import { makeId } from "./ids.ts";
import { collectTexts, pickObjects, stringOrNull } from "./json.ts";
import { requireModel } from "./models.ts";
import { readTexts } from "./text-input.ts";
import { sumTokens } from "./generation/tokens.ts";

const MODERATION_MODEL = "omni-moderation-latest";

/** `POST /alpha/search`: Codex's web search. Its response has no usage, although the search costs something (docs/wire.md section 4). */
export function searchWeb(call: ApiRequest): ApiResponse {
  const { body } = call;
  const model = readModel(call);
  requireModel(call, model);
  const commands = isObject(body["commands"]) ? body["commands"] : {};
  const queries = pickObjects(commands["search_query"]).map(({ q }) => String(q));
  const output = `[sandbox] You searched for: ${queries.join(", ")}`;
  return { body: { id: makeId("search"), output, encrypted_output: null, results: [] } };
}

/** `POST /moderations`: free, and without usage. Nothing is ever flagged. */
export function moderate({ body }: ApiRequest): ApiResponse {
  const { input } = body;
  if (input === undefined) throw missingParameter("input");
  const texts = Array.isArray(input) && input.every((one) => typeof one === "string") ? input : [input];
  const none = { hate: false, violence: false };
  const scores = { hate: 0, violence: 0 };
  const results = texts.map(() => ({ flagged: false, categories: none, category_scores: scores }));
  return {
    body: { id: makeId("modr", "-"), model: stringOrNull(body["model"]) ?? MODERATION_MODEL, results },
  };
}

/** `POST /rerank`: puts documents in the order of the words that they share with the query, with usage as Jina and others report it. */
export function rerank(call: ApiRequest): ApiResponse {
  const { body, switches } = call;
  const model = readModel(call);
  const [query] = readTexts(body, "query");
  const { documents } = body;
  if (query === undefined || !Array.isArray(documents)) throw missingParameter("documents");
  requireModel(call, model);
  const texts = documents.map((one: unknown) =>
    typeof one === "string" ? one : collectTexts([one]).join(" "),
  );
  const words = new Set(query.text.toLowerCase().split(/\W+/));
  const results = texts
    .map((text, index) => ({ index, relevance_score: shareOf(text, words) }))
    .toSorted((one, other) => other.relevance_score - one.relevance_score);
  const tokens = query.tokens + sumTokens(texts);
  return {
    body: {
      id: makeId("rerank"),
      model,
      results,
      ...(!switches.noUsage && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    },
    billed: { input_uncached: tokens, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 },
  };
}

function readModel({ body }: ApiRequest): string {
  const { model } = body;
  if (typeof model !== "string") throw missingParameter("model");
  return model;
}

/** The share of a text's words that are among these. */
function shareOf(text: string, words: ReadonlySet<string>): number {
  const own = text.toLowerCase().split(/\W+/).filter(Boolean);
  return own.length === 0 ? 0 : own.filter((word) => words.has(word)).length / own.length;
}
