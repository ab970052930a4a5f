import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { BARS, renderBar } from "../../../../src/cli/commands/statusline/bars.ts";
import { VALUES, type Values } from "../../../../src/cli/commands/statusline/render.ts";

const NOTHING = Object.fromEntries(VALUES.map((name) => [name, ""])) as unknown as Values;
const values = (changes: Partial<Values>): Values => ({ ...NOTHING, today: "$3.10", ...changes });
const OFF = { trouble: "tollkeeper is off" };

test("json has every value, null for what there is none of, and why there is none", () => {
  assert.deepEqual(JSON.parse(renderBar("json", { values: values({ cache: "65%" }) })), {
    class: "ok",
    trouble: null,
    session: null,
    today: "$3.10",
    cache: "65%",
    budget: null,
    limit: null,
    limits: null,
    failing: null,
    paused: null,
    unpriced: null,
    model: null,
    directory: null,
  });
  const { class: kind, trouble, today } = JSON.parse(renderBar("json", OFF)) as Record<string, unknown>;
  assert.deepEqual([kind, trouble, today], ["off", "tollkeeper is off", null]);
});

test("Waybar gets today's cost, the whole line as its tooltip, a class and the share of a budget, as markup", () => {
  const shown = { values: values({ budget: "130%", failing: "a<b> & c", cache: "65%" }) };
  assert.deepEqual(JSON.parse(renderBar("waybar", shown)), {
    text: "$3.10",
    tooltip: "failing: a&lt;b&gt; &amp; c · $3.10 today · 65% cached · budget 130% spent",
    class: "failing",
    percentage: 100,
  });
  assert.deepEqual(JSON.parse(renderBar("waybar", OFF)), {
    text: "off",
    tooltip: "tollkeeper is off",
    class: "off",
  });
});

test("the class says the worst", () => {
  const classes = [
    { budget: "79%" },
    { paused: "codex" },
    { budget: "80%", paused: "codex" },
    { budget: "100%" },
    { failing: "default", budget: "100%" },
  ].map((changes) => (JSON.parse(renderBar("json", { values: values(changes) })) as { class: string }).class);
  assert.deepEqual(classes, ["ok", "paused", "warning", "spent", "failing"]);
});

test("xbar and SwiftBar get a line for the menu bar and one for each value", () => {
  const shown = { values: values({ budget: "85%", unpriced: "a|b", session: "$0.10" }) };
  for (const bar of ["xbar", "swiftbar"] as const)
    assert.equal(
      renderBar(bar, shown),
      "$3.10 | color=orange\n---\n$0.10 session\n$3.10 today\n85% of a budget spent\na¦b without a price",
    );
  assert.equal(renderBar("xbar", OFF), "–\n---\ntollkeeper is off");
});

test("no value adds a line, or settings, to what a bar reads", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("a\nb", "| shell=x", "--", "\u2028", '"', "<b>"),
  );
  fc.assert(
    fc.property(fc.record(Object.fromEntries(VALUES.map((name) => [name, text]))), (drawn) => {
      const shown = { values: drawn as unknown as Values };
      for (const bar of BARS) {
        const lines = renderBar(bar, shown).split(/[\n\r\u2028\u2029]/);
        if (bar === "json" || bar === "waybar") {
          assert.equal(lines.length, 1, bar);
          JSON.parse(lines[0] ?? "");
          continue;
        }
        const [title = "", line, ...menu] = lines;
        assert.ok(/^[^|]*(?: \| color=(?:red|orange))?$/.test(title), title);
        assert.equal(line, "---");
        assert.ok(menu.length <= 8 && menu.every((item) => !/^-|\|/.test(item)), menu.join("\n"));
      }
    }),
  );
});
