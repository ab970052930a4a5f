import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { readConfigFile, type ConfigReading } from "../../src/adapters/config-file/read.ts";
import { checkConfig } from "../../src/core/config/check.ts";
import { writePath } from "../../src/core/config/problem.ts";
import type { Problem } from "../../src/core/config/problem.ts";
import { keyRefsOf, type Config } from "../../src/core/config/config.ts";
import { nearest } from "../../src/core/text/did-you-mean.ts";
import { printable } from "../../src/core/text/printable.ts";
import { prepareSettings } from "../../src/proxy/settings.ts";
import { editedConfig, goodConfig, KEY_LIKE } from "./config-edits.ts";
import { damages, inflict } from "./damage.ts";
import { property, type Property } from "./property.ts";
import { inScratch } from "./scratch.ts";

function assertNothingPolluted(): void {
  assert.deepEqual(Object.keys(Object.prototype), []);
  assert.equal(Reflect.get({}, "polluted"), undefined);
}

/** What was accepted can be put to work, and sends keys nowhere but where they are safe. */
function assertUsable(config: Config): void {
  keyRefsOf(config);
  for (const { origin, basePath, baseUrl } of Object.values(config.upstreams)) {
    const { protocol, hostname } = new URL(origin);
    assert.ok(
      protocol === "https:" || hostname === "localhost" || /^(127\.|\[::1\]$)/.test(hostname),
      origin,
    );
    assert.equal(baseUrl, origin + basePath);
    assert.match(basePath, /^\/[^?#]*[^/?#]$/);
  }
  if (Object.keys(config.upstreams).length > 0) prepareSettings(config).upstreamFor("toString");
}

function assertWellSaid({ path, message }: Omit<Problem, "line">): void {
  assert.notEqual(message, "");
  assert.equal(printable(path + message), path + message);
  assert.ok(!(path + message).includes(KEY_LIKE));
}

/** Reads it as the daemon does. */
function readFrom(bytes: Buffer): Promise<ConfigReading> {
  return inScratch(async (directory) => {
    const path = join(directory, "config.jsonc");
    await writeFile(path, bytes);
    return readConfigFile(path);
  });
}

/** Judges what the daemon makes of the file. */
async function judgeFile(bytes: Buffer, isSyntaxGood: boolean): Promise<void> {
  const reading = await readFrom(bytes);
  assertNothingPolluted();
  if (reading.ok) return assertUsable(reading.config);
  assert.notEqual(reading.problems.length, 0);
  const lines = bytes.toString().split("\n").length;
  for (const problem of reading.problems) {
    assertWellSaid(problem);
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

/** Changed until nothing of it may be left. */
const anyConfig = fc.oneof(
  editedConfig,
  fc.json().map((text) => JSON.parse(text) as unknown),
);

/** Of few letters, so that many are near each other. */
const shortWord = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1 });

export const CONFIGURATION: readonly Property[] = [
  property(
    "configuration: a good file is accepted, with every upstream and tool that it names",
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
    "configuration: any value is either usable or has problems, and does nothing to anybody's prototype",
    { batch: 300 },
    fc.property(anyConfig, (file) => {
      const verdict = checkConfig(file, "/home/ada");
      assertNothingPolluted();
      if (verdict.ok) return assertUsable(verdict.config);
      assert.notEqual(verdict.faults.length, 0);
      for (const { path, message } of verdict.faults) assertWellSaid({ path: writePath(path), message });
    }),
  ),
  property(
    "configuration: every problem of an edited file has a path and a line, and repeats no key",
    { batch: 150 },
    fc.asyncProperty(editedConfig, (config) => judgeFile(toText(config), true)),
  ),
  property(
    "configuration: a damaged file is read or refused, and every problem has its line",
    { batch: 150 },
    fc.asyncProperty(editedConfig, damages, (config, damage) => {
      const text = toText(config);
      return judgeFile(inflict(text, damage, text), false);
    }),
  ),
  property(
    "did you mean: it is one of the candidates or nothing, and the word itself when that is one",
    { batch: 300 },
    fc.property(shortWord, fc.array(shortWord), (word, candidates) => {
      const near = nearest(word, candidates);
      assert.ok(near === null || candidates.includes(near));
      assert.equal(nearest(word, [word, ...candidates]), word);
      assert.equal(nearest(word, [...candidates, word]), word);
    }),
  ),
];
