import type { Column } from "../../terminal/table.ts";
import type { ExplainedRoute } from "./explain-request.ts";

type Choice = ExplainedRoute["choices"][number];

/** The answer, a line for each place where requests go, and why they do not go to the other upstreams. */
export interface RouteSummary {
  answers: string[];
  /** Rows of {@link OTHER_COLUMNS}. */
  others: string[][];
}

/** Of what is said of each API and upstream. */
export const ROUTE_COLUMNS: readonly Column[] = [
  { head: "api", align: "left", long: "whole" },
  { head: "upstream", align: "left", long: "cut" },
  { head: "goes there", align: "left", long: "whole" },
  { head: "why", align: "left" },
];

/** Of the upstreams to which requests do not go. */
export const OTHER_COLUMNS: readonly Column[] = [
  { head: "not to", align: "left", long: "cut" },
  { head: "why", align: "left" },
];

/** What an upstream without the API's route says. It is said once for all upstreams. */
const NO_ROUTE = "it has no such route";

/** Returns a row for each API and upstream. */
export function routeRows(routes: readonly ExplainedRoute[]): string[][] {
  return routes.flatMap(({ request, choices }) =>
    choices.map((choice, index) => [
      index === 0 ? request.api : "",
      choice.upstream,
      choice.isChosen ? "yes" : "no",
      choice.isChosen ? `${choice.reason}${describeKey(choice)}` : choice.reason,
    ]),
  );
}

/** Says each thing once: where a model goes on which APIs, and why not to the other upstreams. */
export function summariseRoutes(routes: readonly ExplainedRoute[]): RouteSummary {
  const model = routes[0]?.request.model ?? "";
  const goes = new Map<string, string[]>();
  const unserved: string[] = [];
  for (const { request, choices } of routes)
    if (choices.every(({ reason }) => reason === NO_ROUTE)) unserved.push(request.api);
    else {
      const chosen = choices.find(({ isChosen }) => isChosen);
      const to = chosen === undefined ? "no upstream" : `${chosen.upstream}${describeKey(chosen)}`;
      add(goes, to, request.api);
    }
  const answers = [...goes].map(([to, apis]) => `${model} → ${to} (${apis.join(", ")})`);
  if (unserved.length > 0) answers.push(`${unserved.join(", ")}: no upstream has this route`);
  return { answers, others: listOthers(routes) };
}

/** An upstream's reason names the APIs only if it has another one for others. */
function listOthers(routes: readonly ExplainedRoute[]): string[][] {
  const reasons = new Map<string, Map<string, string[]>>();
  for (const { request, choices } of routes)
    for (const { upstream, isChosen, reason } of choices) {
      if (isChosen || reason === NO_ROUTE) continue;
      const ofUpstream = reasons.get(upstream) ?? new Map<string, string[]>();
      add(ofUpstream, reason, request.api);
      reasons.set(upstream, ofUpstream);
    }
  const inOrder = routes[0]?.choices.map(({ upstream }) => upstream) ?? [];
  return inOrder.flatMap((upstream) => {
    const found = reasons.get(upstream);
    if (found === undefined) return [];
    const served = routes.some(({ choices }) =>
      choices.some((choice) => choice.isChosen && choice.upstream === upstream),
    );
    const isOne = found.size === 1 && !served;
    const said = [...found].map(([reason, apis]) => (isOne ? reason : `${apis.join(", ")}: ${reason}`));
    return [[upstream, said.join("; ")]];
  });
}

function add(lists: Map<string, string[]>, name: string, api: string): void {
  lists.set(name, [...(lists.get(name) ?? []), api]);
}

function describeKey({ key, credential }: Choice): string {
  if (credential === "client") return ", with the tool's own key";
  return key === null ? "" : `, with key "${key}"`;
}
