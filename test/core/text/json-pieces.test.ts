import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { jsonPieces, LongList } from "../../../src/core/text/json-pieces.ts";

const items = fc.array(fc.record({ name: fc.string(), inner: fc.jsonValue() }), { maxLength: 200 });

function list<Item extends object>(all: readonly Item[]): LongList<Item, Item> {
  return new LongList(all, (item) => ({ ...item }));
}

test("a document in pieces is the text that JSON has for it, wherever its long lists are", () => {
  fc.assert(
    fc.property(items, items, fc.jsonValue(), (outer, inner, value) => {
      const document = {
        value,
        left: undefined,
        rows: outer,
        deeper: { value, all: { rows: inner }, value2: [] },
      };
      const long = {
        value,
        left: undefined,
        rows: list(outer),
        deeper: { value, all: { rows: list(inner) }, value2: [] },
      };
      assert.equal([...jsonPieces(long)].join(""), JSON.stringify(document, null, 2));
      assert.equal(JSON.stringify(long), JSON.stringify(document));
    }),
  );
});

test("a long list makes only the items that are asked for", () => {
  const made: number[] = [];
  const long = new LongList([1, 2, 3, 4], (at) => {
    made.push(at);
    return { at };
  });
  assert.equal(long.length, 4);
  assert.deepEqual(long.slice(0, 2), [{ at: 1 }, { at: 2 }]);
  assert.deepEqual(made, [1, 2]);
  const pieces = jsonPieces(
    new LongList(
      Array.from({ length: 1_000 }, (_, at) => at),
      (at) => (made.push(at), { at }),
    ),
  );
  pieces.next();
  pieces.next();
  assert.ok(made.length < 100);
});
