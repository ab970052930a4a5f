import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { formatTable, layOutTable } from "../../../src/cli/terminal/table.ts";
import { cutInPieces, shorten, widthOf } from "../../../src/cli/terminal/width.ts";

const COLUMNS = [
  "tool",
  { head: "requests", align: "right" },
  { head: "cache read", align: "right" },
] as const;
const ROWS = [
  ["claude-code", "12", "1,234,567"],
  ["codex", "3", ""],
];

test("a table that fits the terminal is printed as one, also in bold", () => {
  const table = formatTable(COLUMNS, ROWS, true, 40);
  assert.equal(table.split("\n").length, 3);
  assert.match(table, /\ncodex +3\s*$/);
});

test("a table that is wider than the terminal becomes a list for each row, with no word broken", () => {
  assert.equal(
    formatTable(COLUMNS, ROWS, false, 30),
    "claude-code\n  requests    12\n  cache read  1,234,567\ncodex\n  requests    3",
  );
});

test("a table may have more rows than a call can have arguments", () => {
  const rows = Array.from({ length: 200_000 }, (_, at) => ["codex", String(at), ""]);
  assert.equal(formatTable(COLUMNS, rows, false, 60).split("\n").length, rows.length + 1);
});

test("a long cell goes on under its beginning, at any width, and no word is broken", () => {
  const reason = "the upstream has refused the request because its quota is used up until midnight";
  for (let width = 24; width < reason.length; width += 1) {
    const lines = formatTable(["tool", "why"], [["codex", reason]], false, width).split("\n");
    assert.ok(
      lines.every((line) => line.length <= width),
      lines.join("\n"),
    );
    assert.ok(lines.slice(2).every((line) => /^ {7}\S/.test(line)));
    assert.equal(lines.join(" ").replaceAll(/ +/g, " "), `tool why codex ${reason}`);
  }
});

test("a column of Japanese names, emoji and accents ends where its neighbours do", () => {
  const rows = [
    ["日本語", "1"],
    ["👩‍👩‍👧 family", "22"],
    ["e\u0301te\u0301", "3"],
    ["plain", "4"],
  ];
  const columns = ["project", { head: "requests", align: "right" }] as const;
  assert.equal(
    formatTable(columns, rows, false, 60),
    [
      "project    requests",
      "日本語            1",
      "👩‍👩‍👧 family        22",
      "e\u0301te\u0301               3",
      "plain             4",
    ].join("\n"),
  );
  for (const line of formatTable(columns, rows, false, 19).split("\n")) assert.ok(widthOf(line) <= 19, line);
});

test("what is cut or broken is never wider than its room, and no character is halved", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.integer({ min: 2, max: 20 }),
      (text, width) => {
        assert.ok(widthOf(shorten(text, width)) <= width);
        const pieces = cutInPieces(text, width);
        assert.equal(pieces.join(""), text);
        for (const piece of pieces) assert.doesNotMatch(piece, /\p{Surrogate}/u);
      },
    ),
  );
});

const OPTIONAL = [
  { head: "model", align: "left", long: "cut" },
  { head: "directory", align: "left", long: "path", order: 1 },
  { head: "tokens", align: "right", order: 2 },
] as const;
const LONG = [
  ["a-model-with-a-very-long-name", "~/src/customers/acme/payments", { text: "1,234", tone: "failure" }],
] as const;
const optional = (width: number, isWide = false) =>
  layOutTable(OPTIONAL, LONG, { width, isColoured: false, isWide });

test("columns give way by their order, before a name is cut too short to read", () => {
  assert.deepEqual(optional(120).hidden, []);
  assert.deepEqual(optional(50).hidden, []);
  assert.match(optional(50).text, /^a-model-\S+… +…\/\S+ +1,234$/m);
  assert.deepEqual(optional(36).hidden, ["tokens"]);
  assert.deepEqual(optional(30).hidden, ["directory", "tokens"]);
});

test("in a column of paths, what is no path keeps its beginning", () => {
  const rows = ["nightly-batch-of-the-night", "project ~/src/customers/acme"].map((name) => [name, "x"]);
  const columns = [
    { head: "for", align: "left", long: "path" },
    { head: "", align: "right" },
  ] as const;
  const { text } = layOutTable(columns, rows, { width: 19, isColoured: false });
  assert.match(text, /^nightly-batch-o…  x\n…\/customers\/acme  x$/m);
});

test("at every width no line is too long, and a pipe has everything whole", () => {
  for (let width = 40; width <= 240; width += 1)
    for (const isWide of [false, true])
      for (const line of optional(width, isWide).text.split("\n")) assert.ok(line.length <= width, line);
  assert.match(
    optional(Infinity).text,
    /^a-model-with-a-very-long-name {2}~\/src\/customers\/acme\/payments +1,234$/m,
  );
});

test("cells have colours only where there are colours", () => {
  const [plain = "", coloured = ""] = [false, true].map(
    (isColoured) => layOutTable(OPTIONAL, LONG, { width: 120, isColoured }).text,
  );
  assert.ok(coloured.includes("\u001b[31m1,234\u001b[0m"));
  assert.ok(!plain.includes("\u001b"));
});
