import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  readClientVersion,
  readCodexList,
  readModelList,
  readPageRequest,
  writeBareList,
  writeModelList,
} from "../../../src/core/http/model-list.ts";

test("entries are kept as they came, numbers and escapes included", () => {
  const entries = [
    '{ "id" : "a", "size": 1.50e3, "x": "\\u00e9" }',
    '{"id":"b","deep":{"data":[1,{"id":"c"}]}}',
  ];
  const list = readModelList(
    ` {"object":"list", "other":[{"id":"no"}], "data" : [ ${entries.join(" ,\n")} ] } `,
  );
  assert.deepEqual(
    list?.map(({ json }) => json),
    entries,
  );
  assert.equal(writeModelList(list ?? [], null), `{"object":"list","data":[${entries.join(",")}]}`);
});

test("of two lists the last one counts, as for JSON.parse, and entries without an id are left out", () => {
  const list = readModelList('{"data":[{"id":"a"}],"d\\u0061ta":[{"id":"b"},{"x":1},2,{"id":3},{"id":"c"}]}');
  assert.deepEqual(
    list?.map(({ id }) => id),
    ["b", "c"],
  );
});

test("Codex's list keeps its entries as they came, by their slug", () => {
  const entries = ['{"slug" : "gpt-5.5", "priority": 1.0}', '{"slug":"gpt-5","id":"x"}'];
  const list = readCodexList(`{"data":[{"id":"no"}], "models":[${entries.join(", ")}, {"id":"without"}]}`);
  assert.deepEqual(
    list?.map(({ id }) => id),
    ["gpt-5.5", "gpt-5"],
  );
  assert.equal(writeBareList(list ?? []), `{"models":[${entries.join(",")}]}`);
  assert.equal(readCodexList('{"data":[]}'), null);
});

for (const [query, version] of [
  ["?client_version=0.169.0", "0.169.0"],
  ["?a=1&client_version=0.170.0-alpha.1%2Bx", "0.170.0-alpha.1+x"],
  ["", null],
  ["?client_version=", null],
  ["?client_version=1%26x", null],
  [`?client_version=${"1".repeat(41)}`, null],
] as const)
  test(`the version of Codex in "${query}" is ${version}`, () =>
    assert.equal(readClientVersion(query), version));

for (const text of ["", "[]", "{}", '{"data":{}}', '{"data":[', "<html>"]) {
  test(`${text || "an empty text"} is no list of models`, () => {
    assert.equal(readModelList(text), null);
  });
}

test("whatever an upstream lists is valid JSON again", () => {
  const entry = fc.record({ id: fc.string(), more: fc.jsonValue() });
  const spaces = fc.constantFrom(undefined, 1, "\t");
  fc.assert(
    fc.property(fc.array(entry), spaces, (data, space) => {
      const list = readModelList(JSON.stringify({ first: "data", data, last: [] }, null, space));
      const written = JSON.parse(writeModelList(list ?? [], null)) as { data: unknown };
      assert.deepEqual(written.data, JSON.parse(JSON.stringify(data)));
    }),
  );
});

const MODELS = ["a", "b", "c", "d"].map((id) => ({ id, json: JSON.stringify({ id }) }));

for (const [query, ids, hasMore] of [
  ["", ["a", "b", "c", "d"], false],
  ["?limit=2", ["a", "b"], true],
  ["?limit=2&after_id=b", ["c", "d"], false],
  ["?after_id=d", [], false],
  ["?limit=1&before_id=c", ["b"], true],
  ["?before_id=c", ["a", "b"], false],
  ["?limit=0", ["a", "b", "c", "d"], false],
] as const) {
  test(`Anthropic's page for "${query}" has ${ids.join(", ") || "nothing"}`, () => {
    const page = JSON.parse(writeModelList(MODELS, readPageRequest(query))) as Record<string, unknown>;
    assert.deepEqual(page, {
      data: ids.map((id) => ({ id })),
      has_more: hasMore,
      first_id: ids[0] ?? null,
      last_id: ids.at(-1) ?? null,
    });
  });
}
