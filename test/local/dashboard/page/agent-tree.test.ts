import assert from "node:assert/strict";
import { test } from "node:test";
import type { PricedRecord, Row } from "../../../../src/local/dashboard/page/feed-types.ts";
import { placeAgents } from "../../../../src/local/dashboard/page/sessions/agent-tree.ts";
import { usageRecord } from "../../../helpers/ledger/usage-record.ts";

/** Requests of agents, each with the one that started it. */
function records(parents: Record<string, string | null>): PricedRecord[] {
  return Object.entries(parents).map(
    ([agent, parent]) => usageRecord({ agent, agent_parent: parent }) as PricedRecord,
  );
}

/** Sums of agents; without a name, those of the main agent. */
function rows(costs: readonly (readonly [agent: string | null, cost: string, kind?: string])[]): Row[] {
  return costs.map(
    ([agent, cost, kind = "subagent"]) => ({ agent, agent_kind: kind, cost_usd: cost }) as unknown as Row,
  );
}

function treeOf(all: readonly Row[], known: readonly PricedRecord[]): string[] {
  return placeAgents(all, known).map(
    ({ row, depth }) => `${"-".repeat(depth)}${String(row["agent"] ?? row["agent_kind"])}`,
  );
}

test("agents are beneath the one that started them, the dearest first, and the main agent is at the top", () => {
  const all = rows([
    ["cheap", "1"],
    ["inner", "9"],
    ["dear", "5"],
    [null, "0.1", "title"],
    [null, "3", "main"],
  ]);
  assert.deepEqual(treeOf(all, records({ cheap: null, dear: null, inner: "cheap" })), [
    "main",
    "title",
    "-dear",
    "-cheap",
    "--inner",
  ]);
});

test("an agent whose parent has no row is beneath the main agent; no row is lost or shown twice", () => {
  const all = rows([
    ["lone", "1"],
    ["one", "2"],
    ["other", "3"],
    ["own", "4"],
  ]);
  const known = records({ lone: "gone", one: "other", other: "one", own: "own" });
  assert.deepEqual(treeOf(all, known), ["-own", "-lone", "-other", "-one"]);
});
