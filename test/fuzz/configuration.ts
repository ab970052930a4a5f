import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { readConfigFile, type ConfigReading } from "../../src/adapters/config-file.ts";
import { formatConfigPath } from "../../src/core/config/problem.ts";
import type { Problem } from "../../src/core/config/problem.ts";
import { type Config, checkConfig } from "../../src/core/config/config.ts";
import { listConfiguredKeys } from "../../src/core/policy/configured-keys.ts";
import { findNearest } from "../../src/core/text/did-you-mean.ts";
import { toPrintable } from "../../src/core/text/printable.ts";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import { editedConfig, goodConfig, KEY_LIKE } from "./config-edits.ts";
import { damages, applyDamage } from "./damage.ts";
import { property, type Property } from "./property.ts";
import { withScratchDirectory } from "./scratch.ts";

function assertNothingPolluted(): void {
  assert.deepEqual(Object.keys(Object.prototype), []);
  assert.equal(Reflect.get({}, "polluted"), undefined);
}

/** Checks that an accepted configuration can be used, and sends keys only over TLS or to loopback. */
function assertUsable(config: Config): void {
  listConfiguredKeys(config);
  for (const { origin, basePath, baseUrl } of Object.values(config.upstreams)) {
    const { protocol, hostname } = new URL(origin);
    assert.ok(
      protocol === "https:" || hostname === "localhost" || /^(127\.|\[::1\]$)/.test(hostname),
      origin,
    );
    assert.equal(baseUrl, origin + basePath);
    assert.match(basePath, /^\/[^?#]*[^/?#]$/);
  }
  if (Object.keys(config.upstreams).length > 0) prepareSettings(config).destinationsFor("toString");
}

function assertSafeMessage({ path, message }: Omit<Problem, "line">): void {
  assert.notEqual(message, "");
  assert.equal(toPrintable(path + message), path + message);
  assert.ok(!(path + message).includes(KEY_LIKE));
}

/** Reads a configuration file as the daemon does. */
function readFrom(bytes: Buffer): Promise<ConfigReading> {
  return withScratchDirectory(async (directory) => {
    const path = join(directory, "config.jsonc");
    await writeFile(path, bytes);
    return readConfigFile(path);
  });
}

/** Fails unless the file yields a usable configuration, or problems that are reported properly. */
async function assertReadOrRefused(bytes: Buffer, isSyntaxGood: boolean): Promise<void> {
  const reading = await readFrom(bytes);
  assertNothingPolluted();
  if (reading.ok) return assertUsable(reading.config);
  assert.notEqual(reading.problems.length, 0);
  const lines = bytes.toString().split("\n").length;
  for (const problem of reading.problems) {
    assertSafeMessage(problem);
    if (isSyntaxGood) assert.notEqual(problem.path, "");
    const isEmpty = problem.message.startsWith("the file is empty");
    assert.ok(
      isEmpty || (problem.line !== null && problem.line >= 1 && problem.line <= lines),
      problem.message,
    );
  }
}

function toText(config: unknown): Buffer {
  return Buffer.from(JSON.stringify(config, null, 2));
}

/** An edited configuration or any other JSON. */
const anyConfig = fc.oneof(
  editedConfig,
  fc.json().map((text) => JSON.parse(text) as unknown),
);

/** A word of few letters, so that many words are similar. */
const shortWord = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1 });

/** Where a flood can stand in a file. */
const FRAMES = [
  ["{", "}"],
  ['{"upstreams":{', "}}"],
  ['{"tools":{', "}}"],
  ['{"groups":{', "}}"],
  ['{"upstreams":{"default":{"baseUrl":"https://a.example/v1","routes":[', "]}}}"],
  ['{"listen":{"allowedHosts":[', "]}}"],
] as const;

/** Entries of objects and lists. `#` stands for a number that grows. */
const ENTRIES = [
  '"a":1,',
  '"a#":1,',
  '"a#":{},',
  '"a#":{"upstream":"u#"},',
  '"a#":{"group":"g#"},',
  '"a#":{"key":"k#","models":["m#"]},',
  '"a#":{"baseUrl":"https://a#.example/v1"},',
  '"__proto__":{},',
  '{"path":"/#"},',
  '"#",',
  "1,",
];

const TOKENS = [...'x,:{}[]"\\\n\r -1\0é'.split(""), "//", "/*", "*/", "null"];

/** Nearly the largest file that is read. */
const FLOOD_BYTES = 1_000_000;

/** Four times what any flood takes. Work that grows with the square of a flood's length takes more. */
const FLOOD_CPU_MS = 2_500;

const flood = fc
  .record({
    frame: fc.constantFrom(...FRAMES),
    unit: fc.array(fc.oneof(fc.constantFrom(...ENTRIES), fc.constantFrom(...TOKENS)), {
      minLength: 1,
      maxLength: 3,
    }),
  })
  .map(({ frame: [start, end], unit }) => {
    const part = unit.join("");
    const parts: string[] = [start];
    for (let bytes = 0; bytes < FLOOD_BYTES; bytes += Buffer.byteLength(parts.at(-1) ?? "")) {
      parts.push(part.replaceAll("#", String(parts.length)));
    }
    return [...parts, end].join("");
  });

export const CONFIGURATION: readonly Property[] = [
  property(
    "configuration: a valid file is accepted with every upstream and tool that it names",
    { batch: 60 },
    fc.asyncProperty(goodConfig, async (good) => {
      const reading = await readFrom(toText(good));
      assert.ok(reading.ok, reading.ok ? "" : JSON.stringify(reading.problems));
      const { upstreams, tools } = reading.config;
      const named = [good.upstreams, good.tools].map((part) => Object.keys(part ?? {}));
      assert.deepEqual([Object.keys(upstreams), Object.keys(tools)], named);
    }),
  ),
  property(
    "configuration: any value is either usable or has problems, and pollutes no prototype",
    { batch: 300 },
    fc.property(anyConfig, (file) => {
      const verdict = checkConfig(file, "/home/ada");
      assertNothingPolluted();
      if (verdict.ok) return assertUsable(verdict.config);
      assert.notEqual(verdict.issues.length, 0);
      for (const { path, message } of verdict.issues)
        assertSafeMessage({ path: formatConfigPath(path), message });
    }),
  ),
  property(
    "configuration: every problem of an edited file has a path and a line, and contains no key",
    { batch: 150 },
    fc.asyncProperty(editedConfig, (config) => assertReadOrRefused(toText(config), true)),
  ),
  property(
    "configuration: a damaged file is read or refused, and every problem has a line",
    { batch: 150 },
    fc.asyncProperty(editedConfig, damages, (config, damage) => {
      const text = toText(config);
      return assertReadOrRefused(applyDamage(text, damage, text), false);
    }),
  ),
  property(
    "configuration: a flood of faults costs little processor time, and at most fifty problems are reported",
    { batch: 2 },
    fc.asyncProperty(flood, async (text) => {
      const before = process.cpuUsage();
      const reading = await readFrom(Buffer.from(text));
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < FLOOD_CPU_MS * 1000, `${(user + system) / 1000} ms`);
      assertNothingPolluted();
      if (reading.ok) return assertUsable(reading.config);
      assert.ok(reading.problems.length >= 1 && reading.problems.length <= 51);
      for (const problem of reading.problems) assertSafeMessage(problem);
    }),
  ),
  property(
    "did you mean: the suggestion is a candidate or nothing, and the word itself when it is a candidate",
    { batch: 300 },
    fc.property(shortWord, fc.array(shortWord), (word, candidates) => {
      const near = findNearest(word, candidates);
      assert.ok(near === null || candidates.includes(near));
      assert.equal(findNearest(word, [word, ...candidates]), word);
      assert.equal(findNearest(word, [...candidates, word]), word);
    }),
  ),
];
