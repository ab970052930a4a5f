import type { UsageRecord } from "../../../../core/ledger/record.ts";

/** Returns whether a request has all words of a search in one of its names, its error or its ids. */
export function isFound(record: UsageRecord, search: string): boolean {
  const { tool, model, model_requested: requested, project, branch, session, agent, key, upstream } = record;
  const { outcome, error_type: error, id, response_id: responseId } = record;
  const names = [tool, model, requested, project, branch, session, agent, key, upstream];
  const text = [...names, outcome, error, id, responseId].join("\n").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
