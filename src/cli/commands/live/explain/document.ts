import { formatMoney, type Money } from "../../../../core/price/money.ts";
import { USUAL_DAYS } from "../../../../core/ledger/explain/neighbours.ts";
import { inputOf } from "../../../../core/ledger/explain/cache-before.ts";
import { modelOf, type Measures } from "../../../../core/ledger/explain/usual-requests.ts";
import { tokensPerSecond } from "../../../../core/ledger/times/tokens-per-second.ts";
import { toSnakeCase } from "../../../../core/text/snake-case.ts";
import { documentCost } from "../../../prices/cost-document.ts";
import { documentMiss } from "../../../prices/miss-document.ts";
import type { ExaminedRequest } from "./examine.ts";
import { findPriceOrigins } from "./price-origins.ts";
import { describeRefused, wentNowhere } from "./refusal-words.ts";
import { ratioOf } from "./usual-section.ts";

/** Version of the document. It rises when a field is removed or changes its meaning. */
const EXPLANATION_VERSION = 1;

/** Returns all about a request, for programs (docs/json.md#explain). The record in it is the ledger's own. */
export function documentRequest(request: ExaminedRequest): object {
  const { record, kind, source, countedFor, cost, worth, routing, attempts } = request;
  const explained = {
    kind,
    wentNowhere: wentNowhere(record),
    refused: describeRefused(record),
    routing,
    attempts: attempts.map(
      ({ id, upstream, status, outcome, error_type: errorType, duration_ms: durationMs }) => ({
        id,
        upstream,
        status,
        outcome,
        errorType,
        durationMs,
      }),
    ),
    usageFrom: source.id,
    countedFor: countedFor?.id ?? null,
    cost: cost === null ? null : documentCost(cost),
    worth: worth === null ? null : documentCost(worth),
    prices: findPriceOrigins(request),
    tokensPerSecond: tokensPerSecond(record),
    cache: documentCache(request),
    miss: documentMiss(request.source, request.missed),
    usual: documentUsual(request),
  };
  return { v: EXPLANATION_VERSION, ...(toSnakeCase(explained) as object), record };
}

function documentCache({ source: { tokens }, before }: ExaminedRequest): object | null {
  if (tokens === null) return null;
  return {
    share: shareOf(tokens.cache_read, inputOf(tokens)),
    before: before && { requests: before.requests, share: shareOf(before.read, before.input) },
  };
}

function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function documentUsual({ record, measures, usual }: ExaminedRequest): object | null {
  if (usual === null) return null;
  const { project, requests, medians } = usual;
  const compare = (name: Exclude<keyof Measures, "cost">) =>
    toComparison(measures[name], medians?.[name] ?? null);
  return {
    tool: record.tool,
    model: modelOf(record),
    project,
    days: USUAL_DAYS,
    requests,
    costUsd: toComparison(measures.cost, medians?.cost ?? null),
    tokensIn: compare("input"),
    cacheShare: compare("cached"),
    tokensOut: compare("output"),
    durationMs: compare("duration"),
  };
}

/** null unless both are known. Amounts are exact decimal numbers in strings. */
function toComparison(own: number | Money | null, median: number | Money | null): object | null {
  if (own === null || median === null) return null;
  return { own: toJson(own), median: toJson(median), times: ratioOf(own, median) };
}

function toJson(value: number | Money): number | string {
  return typeof value === "bigint" ? formatMoney(value) : value;
}
