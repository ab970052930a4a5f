import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { findExecutable } from "../../src/adapters/programs/executables.ts";
import { ModelReader } from "../../src/core/policy/model-reader.ts";
import { property, type Property } from "./property.ts";

const PATH = process.env["PATH"] ?? "";
const fileOf = (name: string) => fileURLToPath(new URL(`decoders/${name}`, import.meta.url));

/** Names that a decoder may or may not take for `model`, and their neighbours. */
const names = fc.constantFrom(
  '"model"',
  '"Model"',
  '"MODEL"',
  '"mod\\u0065l"',
  '"\\u006dodel"',
  '"model\\u0000"',
  '"model "',
  '"m\u00f6del"',
  '"models"',
  '"mo\\u0064\\u0065l"',
  '"\ufeffmodel"',
  '"input"',
  '"a"',
);
const values = fc.oneof(
  fc.constantFrom(
    '"a"',
    '"b"',
    '"a\\u002db"',
    '""',
    "1",
    "null",
    "[]",
    '{"model":"c"}',
    "NaN",
    '"\\ud83d"',
    "01",
    "1.",
    "tru",
    '"\u00e9"',
  ),
  fc.json({ maxDepth: 2 }),
);
const member = fc
  .tuple(names, fc.constantFrom(":", " : ", "::", "\n:"), values)
  .map((parts) => parts.join(""));
const separator = fc.constantFrom(",", " ,\n", ",,", "", ",/* */", ", ");
const prefix = fc.constantFrom("", "", "", " ", "\ufeff", "[", "\u0000", "//x\n");
const suffix = fc.constantFrom("", "", "", "\n", " x", "}", '{"model":"d"}', "\u0000", ",");

/** Objects with a few members, most of them valid JSON, some with a fault that a lenient decoder may let pass. */
const bodies = fc
  .tuple(
    prefix,
    fc.array(fc.tuple(member, separator), { minLength: 1, maxLength: 4 }),
    suffix,
    fc.constantFrom("utf8", "latin1", "utf16le"),
  )
  .map(([before, members, after, encoding]) => {
    const inside = members
      .map(([one, next], index) => (index === members.length - 1 ? one : one + next))
      .join("");
    return Buffer.from(
      `${before}{${inside}}${after}`,
      encoding === "utf16le" && inside.length % 5 > 0 ? "utf8" : (encoding as BufferEncoding),
    );
  });

function readModel(body: Buffer): string | null {
  const reader = new ModelReader(null);
  const half = Math.floor(body.length / 2);
  reader.feed(body.subarray(0, half));
  reader.feed(body.subarray(half));
  return reader.finish() === null ? (reader.place?.model ?? null) : null;
}

/** Runs another decoder over all bodies, and fails where it finds another model than the one that was read. */
function compareWith(command: readonly string[], cases: readonly Buffer[]): void {
  const [file = "", ...args] = command;
  const input = `${cases.map((body) => body.toString("base64")).join("\n")}\n`;
  const lines = execFileSync(file, args, { input, encoding: "utf8", maxBuffer: 2 ** 28 })
    .trimEnd()
    .split("\n");
  cases.forEach((body, index) => {
    const model = readModel(body);
    const found = JSON.parse(lines[index] ?? "[]") as (string | null)[];
    if (model !== null)
      assert.ok(
        found.every((other) => other === model),
        `${body.toString("latin1")}: ${model}, but ${lines[index]}`,
      );
  });
}

/** Go is compiled once, because that takes seconds. */
let goProgram: string | null = null;

function buildGo(): string {
  if (goProgram !== null) return goProgram;
  goProgram = join(mkdtempSync(join(tmpdir(), "tollkeeper-go-")), "models");
  execFileSync("go", ["build", "-o", goProgram, fileOf("models.go")]);
  return goProgram;
}

const missing = (program: string) =>
  findExecutable(program, PATH) === null ? `${program} is not installed` : null;

export const MODEL_READER: readonly Property[] = [
  property(
    "model: where one is read, Python's json finds no other, however it is called",
    { batch: 3, missing: missing("python3") },
    fc.property(fc.array(bodies, { minLength: 400, maxLength: 400, size: "max" }), (cases) =>
      compareWith(["python3", fileOf("models.py")], cases),
    ),
  ),
  property(
    "model: where one is read, Go's encoding/json finds no other",
    { batch: 3, missing: missing("go") },
    fc.property(fc.array(bodies, { minLength: 400, maxLength: 400, size: "max" }), (cases) =>
      compareWith([buildGo()], cases),
    ),
  ),
];
