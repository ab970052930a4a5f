import * as fc from "fast-check";
import type { Format, Setting, PathSegment, Value } from "../../src/tools/setting.ts";

/** Edits that a person makes outside our settings. */
export function edits(format: Format): fc.Arbitrary<(text: string) => string> {
  const comment = format === "jsonc" ? "// theirs" : "# theirs";
  return fc.constantFrom(
    (text: string) => text.replace(PERSONS_OWN, "an-edit"),
    (text: string) => text.replace(/^\uFEFF?/, (mark) => `${mark}${comment}\n`),
    (text: string) => `${text}\n${comment}\n`,
  );
}

/** A value that every document has once, at its top level, for an edit to replace. */
const PERSONS_OWN = "their-own-value";

/** Few names, so that random settings hit existing members of random documents. */
const NAMES = ["env", "models", "a", "b.c", "provider"];

const name = fc.constantFrom(...NAMES);

/** Settings like those of real tools, and stranger ones. */
export function settings(format: Format): fc.Arbitrary<Setting[]> {
  const isShell = format === "sh" || format === "fish";
  const where: fc.Arbitrary<PathSegment> = fc.record({
    where: fc.record({ name: fc.constantFrom("one", "two") }),
  });
  const below: fc.Arbitrary<PathSegment[]> = fc.oneof(
    fc.array(name, { maxLength: 2 }),
    fc.tuple(where, name),
    fc.tuple(name, where, fc.constant("url")),
  );
  const value: fc.Arbitrary<Value> = fc.oneof(
    fc.constantFrom(
      "http://127.0.0.1:8655/t/codex/v1",
      'it\'s "quoted" \\',
      "yes",
      "",
      "# no comment",
      "- x: y",
    ),
    fc.boolean(),
    fc.integer({ min: 0, max: 99 }),
    fc.constant<Value>({ url: "u", list: [1, { x: "y" }] }),
  );
  const any = fc.record({
    keyPath: fc.tuple(name, below).map(([first, rest]): PathSegment[] => [first, ...rest]),
    value,
    purpose: fc.constant("a test"),
  });
  const listed = fc.record({
    names: fc.array(name, { minLength: 1, maxLength: 2 }),
    item: fc.constantFrom("NAME=value", "one", "- x: y", "# no comment", "yes"),
  });
  const inList = listed.map(({ names, item }): Setting => {
    return { keyPath: [...names, { item }], value: item, purpose: "a test" };
  });
  const variable = fc.record({
    keyPath: fc.constantFrom("A", "B_2", "PATH_").map((variableName): PathSegment[] => [variableName]),
    value: fc.constantFrom<Value>("x", "it's", "a\\b'c", "$HOME `ls`", ""),
    purpose: fc.constant("a test"),
  });
  const some = fc.array(isShell ? variable : fc.oneof({ weight: 3, arbitrary: any }, inList), {
    minLength: 1,
    maxLength: 4,
  });
  return some.map((all) => all.filter((one, i) => all.slice(0, i).every((other) => !isWithin(one, other))));
}

/** True when one is inside the other, or both are the same. */
function isWithin({ keyPath: one }: Setting, { keyPath: other }: Setting): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.every((step, i) => JSON.stringify(step) === JSON.stringify(long[i]));
}

/** Documents in a format, with comments, in many styles. */
export function documents(format: Format): fc.Arbitrary<string> {
  const lines = { jsonc: jsoncLines, toml: tomlLines, yaml: yamlLines, sh: shellLines, fish: shellLines }[
    format
  ];
  return fc
    .tuple(lines, fc.constantFrom("\n", "\r\n"), fc.boolean(), fc.boolean())
    .map(
      ([all, lineEnd, isEnded, hasMark]) =>
        (hasMark ? "\uFEFF" : "") + all.join(lineEnd) + (isEnded ? lineEnd : ""),
    );
}

const comment = fc.constantFrom("", "", "note", 'with "quotes", {braces} and = signs');

const oneLine = (text: string): string[] => [text];

/** JSON values, as lines. */
const { member: jsonMembers } = fc.letrec<{ value: string[]; member: string[] }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc
      .constantFrom("1", '"text // no comment"', "true", "null", "{}", "[]", "{ }", '["x"]', "[{}]")
      .map(oneLine),
    tie("member"),
    fc.constantFrom('{"name": "one", "url": "old"}', '{ "a": 1 }').map(oneLine),
    fc.constant<string[]>(["[", '  {"name": "one"},', '  { "name": "two", "url": "old" } // end', "]"]),
  ),
  member: fc
    .tuple(
      fc.uniqueArray(fc.tuple(name, tie("value"), comment, comment), {
        maxLength: 3,
        selector: ([key]) => key,
      }),
      fc.boolean(),
      fc.constantFrom("  ", "\t", "    "),
      comment,
    )
    .map(([members, isTrailing, indent, inside]) => [
      inside === "" ? "{" : `{ // ${inside}`,
      ...members.flatMap(([key, value, above, trailing], i) => {
        const comma = i < members.length - 1 || isTrailing ? "," : "";
        const note = trailing === "" ? "" : i % 2 === 0 ? ` // ${trailing}` : ` /* ${trailing} */`;
        const [first = "", ...rest] = value;
        const whole = [`"${key}": ${first}`, ...rest];
        whole[whole.length - 1] += comma + note;
        return [...(above === "" ? [] : [`// ${above}`]), ...whole].map((line) => indent + line);
      }),
      "}",
    ]),
}));

const jsoncLines: fc.Arbitrary<string[]> = fc.oneof(
  fc
    .tuple(comment, jsonMembers, comment)
    .map(([above, [first = "", ...rest], below]) => [
      ...(above === "" ? [] : [`// ${above}`]),
      first,
      `  "own": "${PERSONS_OWN}"${rest.length > 1 ? "," : ""}`,
      ...rest,
      ...(below === "" ? [] : [`/* ${below} */`]),
    ]),
  fc
    .constantFrom(`{"own":"${PERSONS_OWN}","env":{"a":1}}`, `{ "own": "${PERSONS_OWN}", "models": [] }`)
    .map(oneLine),
);

const tomlValue = fc.constantFrom(
  "1",
  "'literal \"x\"'",
  '"basic # no comment"',
  "2020-01-01T00:00:00Z",
  '"""\n[env]\n# text\n"""',
  "[1,\n  2, # two\n]",
  '{ name = "one", url = "old" }',
  "[{ name = 'one' }, {name='two'}]",
  "{}",
);

const tomlLine = fc
  .tuple(tomlValue, comment)
  .map(([value, note]) => (note === "" ? value : `${value} # ${note}`));

/** Every table at most once, in any order, below random top-level keys. */
const tomlLines: fc.Arbitrary<string[]> = fc
  .tuple(
    fc.uniqueArray(fc.tuple(fc.constantFrom("env", "models", "a"), tomlLine), {
      maxLength: 2,
      selector: ([key]) => key,
    }),
    fc.uniqueArray(
      fc.tuple(
        fc.constantFrom("provider", "provider.env", '"b.c"', "x.y", " provider . a "),
        fc.array(tomlLine, { maxLength: 2 }),
        fc.boolean(),
      ),
      { maxLength: 3, selector: ([key]) => key },
    ),
    fc.array(fc.constantFrom("one", "two", "three"), { maxLength: 2 }),
    comment,
  )
  .map(([top, tables, items, note]) => [
    ...(note === "" ? [] : [`# ${note}`, ""]),
    `own = "${PERSONS_OWN}"`,
    ...top.map(([key, value]) => `${key} = ${value}`),
    ...tables.flatMap(([key, values, isApart]) => [
      ...(isApart ? ["", "# about it"] : []),
      `[${key}]`,
      ...values.map((value, i) => `  key-${i}.below = ${value}`),
    ]),
    ...(top.some(([key]) => key === "models")
      ? []
      : items.flatMap((item) => ["[[models]]", `name = "${item}" # it`])),
  ]);

const yamlValue = fc.constantFrom<string[]>(
  [" plain text"],
  [" 'single'"],
  [' "double" # note'],
  [" {name: one, 'a': 1}"],
  [" []"],
  [" {}"],
  [""],
  [" # nothing here"],
  [" ~"],
  [" |", "  text", "  # no comment", ""],
  ["", "  a: 1 # one", "  # between", "  b.c: two"],
  ["", "  - name: one", "    url: old # it", "  # between", "  - name: two"],
  ["", "- name: one", "  env: [1, 2]", ""],
  ["", "  - plain", "  - {name: two}"],
  ["", "    env:", "        a: deep", "    provider: x"],
);

const yamlLines: fc.Arbitrary<string[]> = fc
  .tuple(
    fc.uniqueArray(fc.tuple(name, yamlValue), { maxLength: 4, selector: ([key]) => key }),
    comment,
    fc.boolean(),
    fc.nat(4),
  )
  .map(([members, note, isMarked, place]) => {
    const parts = members.map(([key, [first = "", ...rest]]) => [`${key}:${first}`, ...rest]);
    parts.splice(place, 0, [`own: ${PERSONS_OWN}`]);
    return [...(isMarked ? ["---"] : []), ...(note === "" ? [] : [`# ${note}`]), ...parts.flat()];
  });

const shellLines: fc.Arbitrary<string[]> = fc
  .array(fc.constantFrom("# comment", "", "export A=1", "alias ll='ls -l'", "if true; then", "fi"), {
    maxLength: 5,
  })
  .map((lines) => [...lines, `own=${PERSONS_OWN}`]);
