import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { buildAgentTree, type AgentRow } from "../../../../src/core/ledger/session/agent-tree.ts";
import { Tally } from "../../../../src/core/ledger/tally.ts";
import { priceBook } from "../../../helpers/ledger/prices.ts";

const PRICES = priceBook({ default: { baseUrl: "https://api.openai.com/v1" } });

/** A row with some requests, written `SESSION AGENT PARENT KIND`; `-` for null. */
function row(text: string, requests = 1): AgentRow {
  const [session, agent, parent, kind] = text.split(" ").map((word) => (word === "-" ? null : word));
  const sums = new Tally(PRICES);
  sums.requests = requests;
  return { session: session ?? null, agent: agent ?? null, parent: parent ?? null, kind: kind ?? null, sums };
}

const tree = (session: string, ...rows: AgentRow[]) =>
  buildAgentTree(session, rows, PRICES).map(
    ({ agent, kind, depth, sums }) =>
      `${"  ".repeat(depth)}${agent ?? "main"} ${kind ?? "-"} ${sums.requests}`,
  );

test("each agent is followed by those that it started", () => {
  assert.deepEqual(
    tree(
      "s",
      row("s deep a1 subagent"),
      row("s - - main", 3),
      row("s a1 - subagent", 2),
      row("s a2 - subagent"),
      row("s a1 - compaction"),
      row("s - - title"),
      row("other a1 - subagent"),
    ),
    [
      "main main 3",
      "main title 1",
      "  a1 subagent 2",
      "  a1 compaction 1",
      "    deep subagent 1",
      "  a2 subagent 1",
    ],
  );
});

test("a child of a child session is below the child, though its records name only that", () => {
  assert.deepEqual(
    tree(
      "root",
      row("root - - -", 4),
      row("root child - subagent", 2),
      row("child grandchild - subagent", 1),
    ),
    ["main - 4", "  child subagent 2", "    grandchild subagent 1"],
  );
});

test("an agent without a known parent is below the main one, and so are those that descend from themselves", () => {
  assert.deepEqual(tree("s", row("s a gone subagent"), row("s b c subagent"), row("s c b subagent")), [
    "  a subagent 1",
    "  b subagent 1",
    "    c subagent 1",
  ]);
});

test("a session without requests has no lines", () => {
  assert.deepEqual(tree("none", row("s - - main")), []);
});

test("whatever ids clients make up, each request of the session is in one line, and no other is", () => {
  const word = fc.constantFrom("s", "t", "a", "b", "-");
  const rows = fc.array(fc.tuple(word, word, word, fc.constantFrom("main", "title", "-")), { maxLength: 30 });
  fc.assert(
    fc.property(rows, (list) => {
      const given = list.map((words, at) => row(words.join(" "), 2 ** at));
      // Independent of the order: sessions that are reached from `s`.
      const reached = new Set(["s"]);
      for (const _ of given)
        for (const { session, agent } of given)
          if (session !== null && agent !== null && reached.has(session)) reached.add(agent);
      const wanted = given.filter(({ session }) => session !== null && reached.has(session));
      const lines = buildAgentTree("s", given, PRICES);
      assert.equal(
        lines.reduce((sum, { sums }) => sum + sums.requests, 0),
        wanted.reduce((sum, { sums }) => sum + sums.requests, 0),
      );
      assert.equal(new Set(lines.map(({ agent, kind }) => `${agent} ${kind}`)).size, lines.length);
    }),
  );
});

test("a chain of agents as long as a ledger is put in order", () => {
  const rows = Array.from({ length: 20_000 }, (_, at) =>
    row(`s a${at} ${at === 0 ? "-" : `a${at - 1}`} subagent`),
  );
  assert.equal(buildAgentTree("s", rows.toReversed(), PRICES).at(-1)?.depth, 20_000);
});
