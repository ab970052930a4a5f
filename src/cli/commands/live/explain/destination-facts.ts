import { SANDBOX_UPSTREAM } from "../../../../core/config/names.ts";
import type { SummableRecord, UsageRecord } from "../../../../core/ledger/record.ts";
import {
  configuredName,
  isExtraUpstream,
  isOwnUpstream,
  isPlanUpstream,
} from "../../../../core/plans/names.ts";
import { isOfUpstream } from "../../../../core/refusals/of-upstream.ts";
import type { Fact } from "../../../terminal/facts.ts";
import type { ExaminedRequest } from "./examine.ts";
import { formatDuration } from "./duration.ts";
import { describeRefused, wentNowhere } from "./refusal-words.ts";

/** Says where a request went, and why there. */
export function destinationFacts(request: ExaminedRequest): Fact[] {
  const { record, attempts } = request;
  const refused = describeRefused(record);
  const facts: (Fact | false)[] = [
    ["where", describeUpstream(request), refused === null ? "plain" : "warning"],
    refused !== null && ["why", refused.reason],
    refused !== null && ["next", `type: ${refused.command}`],
    ["request", describeAsked(record)],
    // The first line of the page has the name that was asked for.
    describeModel(record) !== record.model_requested && ["model", describeModel(record)],
  ];
  return [
    ...facts.filter((fact) => fact !== false),
    ...(refused === null ? routingFacts(request) : []),
    ...(attempts.length > 1 ? attemptFacts(record, attempts) : []),
  ];
}

function describeUpstream({ record, routing }: ExaminedRequest): string {
  const { upstream, key, error_type: type, outcome } = record;
  if (wentNowhere(record)) return `nowhere, because tollkeeper refused it (${type})`;
  if (upstream === SANDBOX_UPSTREAM)
    return "the built-in sandbox, which makes up its responses: nothing left this machine";
  if (isPlanUpstream(upstream)) return `the service of the plan ${upstream}, with the tool's own login`;
  if (isExtraUpstream(upstream))
    return `the service of a plan, with the tool's own login; it charges extra for that (${upstream})`;
  const address = routing?.baseUrl ?? null;
  const named = `${upstream}${address === null ? "" : ` (${address})`}`;
  if (outcome === "rejected" && isOfUpstream(type)) return `${named}, which gave no response (${type})`;
  if (isOwnUpstream(upstream))
    return `${configuredName(upstream)}${address === null ? "" : ` (${address})`}, with the tool's own key`;
  const isKeyless = routing?.takesKey === false;
  return isKeyless ? `${named}, which takes no key` : `${named}, with the key "${key}"`;
}

function describeAsked({ method, route, stream }: UsageRecord): string {
  return `${method} ${route}${stream === true ? ", as a stream" : ""}`;
}

function describeModel({ model_requested: requested, alias, model }: UsageRecord): string {
  if (requested === null) return model === null ? "none was named" : `${model}; the request named none`;
  const asked = alias === null ? requested : `${requested}, an alias: ${alias} was asked for`;
  return model === null || model === (alias ?? requested) ? asked : `${asked}; ${model} served`;
}

/** Why the recorded upstream got it is not in the record: the present configuration says what it would do. */
function routingFacts({ record, routing }: ExaminedRequest): Fact[] {
  const { attempt_of: attemptOf } = record;
  const upstream = configuredName(record.upstream);
  if (attemptOf !== null || routing === null) return [];
  const { reason, chosen } = routing;
  if (reason === null)
    return [["why", `the configuration no longer has ${upstream}; such a request now goes to ${chosen}`]];
  if (chosen === upstream) return [["why", `${upstream} is ${reason} by the present configuration`]];
  const now =
    chosen === null
      ? "the present configuration sends it nowhere"
      : `the present configuration sends it to ${chosen}`;
  return [["why", `${now}. ${upstream}: ${reason}`]];
}

function attemptFacts(record: UsageRecord, attempts: readonly SummableRecord[]): Fact[] {
  return attempts.map((attempt, at) => {
    const end = attempt.error_type ?? attempt.outcome;
    const which = attempt.id === record.id ? "this one" : `for more, type: tollkeeper explain ${attempt.id}`;
    const took = formatDuration(attempt.duration_ms);
    return [
      at === 0 ? "attempts" : "",
      `${at + 1}. ${attempt.upstream}: ${attempt.status ?? "no status"}, ${end}, ${took}; ${which}`,
    ];
  });
}
