import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { coloursOf, lastingColours } from "../../../../src/local/dashboard/page/overview/series-colours.ts";

test("each name has a colour of its own, and a lone name the same one as beside others, if it comes first", () => {
  const names = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(names, (all) => {
      const colours = coloursOf(all);
      assert.equal(new Set(colours.values()).size, all.length);
      for (const colour of colours.values()) assert.ok(colour >= 0 && colour < 7);
      const [first = ""] = all;
      assert.equal(colours.get(first), coloursOf([first]).get(first));
    }),
  );
});

test("the tools that are used most keep their colours when another one comes first", () => {
  const tools = ["claude-code", "codex", "zed"];
  const [one, other] = [coloursOf(tools), coloursOf(tools.toReversed())];
  assert.deepEqual(
    tools.map((name) => one.get(name)),
    tools.map((name) => other.get(name)),
  );
});

test("a name that is used much has the same colour whatever else the chart shows", () => {
  const names = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(names, names, (lasting, others) => {
      const known = lastingColours(lasting, lasting);
      const order = [...new Set([...others, ...lasting.slice(0, 3)])].slice(0, 8);
      const colours = lastingColours(order, lasting);
      for (const name of order.filter((one) => lasting.includes(one)))
        assert.equal(colours.get(name), known.get(name));
      // Of eight, one may have the colour of the others.
      assert.ok(new Set(colours.values()).size >= Math.min(order.length, 7) - Number(order.length > 7));
      assert.equal(colours.size, order.length);
    }),
  );
});
