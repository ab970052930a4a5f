import assert from "node:assert/strict";
import * as fc from "fast-check";
import { parseJson } from "../../src/core/json.ts";
import { UNSURE } from "../../src/core/misses/part-hasher.ts";
import { ABSENT, type Prompt } from "../../src/core/misses/prompt.ts";
import { createRequestScanner } from "../../src/core/usage/request-scanner.ts";
import { HASHING } from "../core/misses/script.ts";
import { applyDamage, damages } from "./damage.ts";
import { chunking, splitIntoChunks } from "./chunking.ts";
import { property, type Property } from "./property.ts";
import { trickyText } from "./tricky-text.ts";

type Json = Record<string, unknown>;

function scan(chunks: Iterable<Buffer>) {
  const scanner = createRequestScanner(HASHING);
  for (const chunk of chunks) scanner.feed(chunk);
  const { model, stream, background, readPrompt } = scanner;
  return { read: [model, stream, background], prompt: readPrompt?.() ?? null };
}

function promptOf(body: Json): Prompt {
  const { prompt } = scan([Buffer.from(JSON.stringify(body))]);
  assert.ok(prompt !== null);
  return prompt;
}

const word = fc.oneof(trickyText, fc.constantFrom("cache_control", "a", "cache_contro", "cache_control:"));
const mark = fc.constantFrom({ type: "ephemeral" }, { type: "ephemeral", ttl: "1h" });
const json = fc
  .jsonValue({ maxDepth: 2 })
  .filter((value) => !JSON.stringify(value).includes("cache_control"));

/** A block with its members in any order, and a mark among them or none. */
const block = fc
  .record({ first: fc.option(mark), text: word, last: fc.option(mark), more: fc.option(json) })
  .map(({ first, text, last, more }): Json => ({
    ...(first !== null && { cache_control: first }),
    type: "text",
    text,
    ...(more !== null && { more }),
    ...(last !== null && first === null && { cache_control: last }),
  }));
const message = fc.record({
  role: fc.constantFrom("user", "assistant"),
  content: fc.oneof(word, fc.array(block, { maxLength: 3 })),
});

const body = fc.record(
  {
    model: fc.constantFrom("claude-opus-5-5", "gpt-5"),
    stream: fc.boolean(),
    system: fc.oneof(word, fc.array(block, { maxLength: 2 })),
    tools: fc.array(block, { maxLength: 3 }),
    tool_choice: json,
    thinking: json,
    messages: fc.array(message, { maxLength: 5 }),
    other: json,
  },
  { requiredKeys: ["model", "messages"] },
) as fc.Arbitrary<Json>;

/** Removes the marks of all blocks, and says whether there was one. */
function withoutMarks(value: unknown): { text: string; isMarked: boolean } {
  let isMarked = false;
  const text = JSON.stringify(value, (name, below: unknown) => {
    const isMark = name === "cache_control" && typeof below === "object" && below !== null;
    isMarked ||= isMark;
    return isMark ? undefined : below;
  });
  return { text, isMarked };
}

/** Asserts that two hashes are equal exactly where the values are, but for their marks. */
function compareHashes(one: number, other: number, values: readonly [unknown, unknown]): void {
  assert.ok(one !== UNSURE && other !== UNSURE, "a whole body is sure");
  const [a, b] = values.map((value) => (value === undefined ? "[]" : withoutMarks(value).text));
  assert.equal(one === other, a === b, JSON.stringify(values));
}

export const PROMPTS: readonly Property[] = [
  property(
    "prompts: hashes are equal exactly where JSON.parse finds equal parts, whatever marks they have",
    { batch: 300 },
    fc.property(body, body, fc.boolean(), (one, given, isNear) => {
      // Otherwise two of them would hardly have anything in common.
      const other = isNear ? { ...one, ...("tools" in given && { tools: given["tools"] }) } : given;
      const [first, second] = [promptOf(one), promptOf(other)];
      for (const part of ["tools", "system"] as const)
        compareHashes(first[part], second[part], [one[part], other[part]]);
      const [all, others] = [one["messages"], other["messages"]] as unknown[][];
      for (const [at, hash] of first.messages.entries()) {
        const opposite = second.messages[at];
        if (opposite !== undefined) compareHashes(hash, opposite, [all?.[at], others?.[at]]);
      }
      const marked = (all ?? []).flatMap((value, at) => (withoutMarks(value).isMarked ? [at] : []));
      assert.deepEqual(first.marked, marked);
      assert.equal(first.messages.length, all?.length);
    }),
  ),
  property(
    "prompts: however a request is divided into chunks, each hash is the same or unsure, and what else is read of it is the same",
    { batch: 300 },
    fc.property(body, chunking, (one, chunks) => {
      const whole = Buffer.from(JSON.stringify(one));
      const { read, prompt } = scan(splitIntoChunks(whole, chunks));
      const expected = scan([whole]);
      assert.deepEqual(read, expected.read);
      assert.ok(prompt !== null && expected.prompt !== null);
      for (const part of ["tools", "system", "toolChoice", "thinking", "others"] as const)
        if (prompt[part] !== UNSURE) assert.equal(prompt[part], expected.prompt[part], part);
      for (const [at, hash] of prompt.messages.entries())
        if (hash !== UNSURE) assert.equal(hash, expected.prompt.messages[at]);
      assert.equal(prompt.messages.length, expected.prompt.messages.length);
      assert.equal(expected.prompt.previous, ABSENT);
    }),
  ),
  property(
    "prompts: what is read of a damaged request in pieces does not depend on how it is cut, and of valid JSON not on hashes",
    { batch: 200 },
    fc.property(body, damages, chunking, (one, damage, chunks) => {
      const text = Buffer.from(JSON.stringify(one));
      const damaged = applyDamage(text, damage, text);
      const { read } = scan(splitIntoChunks(damaged, chunks));
      const isWhole = [...splitIntoChunks(damaged, chunks)].length === 1;
      const inTwo = [damaged.subarray(0, 1), damaged.subarray(1)];
      assert.deepEqual(read, scan(isWhole ? [damaged] : inTwo).read);
      const plain = createRequestScanner();
      plain.feed(damaged);
      if (parseJson(damaged.toString()) !== undefined)
        assert.deepEqual(read, [plain.model, plain.stream, plain.background]);
    }),
  ),
];
