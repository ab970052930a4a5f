import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { readConfigFile } from "../../../src/adapters/config-file.ts";
import { watchNewConfig, withPort } from "../../helpers/config/config-file.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

// A broken configuration must cost nothing: the daemon checks it while it serves requests (SECURITY.md B7).

const LIMIT_BYTES = 1024 * 1024;

/** A text of nearly the largest size, in which `unit` is repeated. `unit` may depend on its number. */
function flood(before: string, unit: (index: number) => string, after: string): string {
  const parts = [before];
  let length = before.length + after.length;
  for (let i = 0; length < LIMIT_BYTES - 100; i += 1) {
    const part = unit(i);
    parts.push(part);
    length += part.length;
  }
  return [...parts, after].join("");
}

const UPSTREAM = '"default": { "baseUrl": "https://a.example/v1" }';

/** Each has far more faults than are reported. The time limit of the test run catches one that is not linear. */
const FLOODS: Record<string, string> = {
  "what is no JSON, on one line": flood("{", () => "x,", "}"),
  "what is no JSON, on as many lines": flood("{", () => "x,\n", "}"),
  "brackets that are never closed": "[".repeat(LIMIT_BYTES - 1),
  "unknown keys": flood("{", (i) => `"key${i}":1,`, '"last":1}'),
  "one key again and again": flood("{", () => '"a":1,', '"a":1}'),
  "tools of upstreams that do not exist": flood(
    `{"upstreams":{${UPSTREAM}},"tools":{`,
    (i) => `"t${i}":{"upstream":"u${i}"},`,
    '"last":{}}}',
  ),
  upstreams: flood(
    '{"upstreams":{',
    (i) => `"u${i}":{"baseUrl":"https://a${i}.example/v1"},`,
    `${UPSTREAM}}}`,
  ),
  routes: flood(
    '{"upstreams":{"default":{"baseUrl":"https://a.example/v1","routes":[',
    (i) => `{"method":"GET","path":"/r${i}","auth":"bearer","dialect":"none"},`,
    "1]}}}",
  ),
  "list items of the wrong type": flood('{"listen":{"allowedHosts":[', () => "1,", "1]}}"),
  "misspelled names as long as names may be": `{"upstreams":{${Array.from({ length: 900 }, (_, i) => `"${"ab".repeat(29)}${1000 + i}":{"baseUrl":"https://a.example/v1"}`).join()},${UPSTREAM}},"tools":{${Array.from({ length: 900 }, (_, i) => `"t${i}":{"upstream":"${"ba".repeat(29)}x${1000 + i}"}`).join()}}}`,
  "one long key": `{"${"a".repeat(LIMIT_BYTES - 100)}":1}`,
};

for (const [what, text] of Object.entries(FLOODS)) {
  test(`a file full of ${what} is refused with at most the first fifty problems`, async (t) => {
    const path = join(scratchDirectory(t), "config.jsonc");
    writeFileSync(path, text);
    const reading = await readConfigFile(path);
    assert.ok(!reading.ok);
    assert.ok(reading.problems.length >= 1 && reading.problems.length <= 51, String(reading.problems.length));
    if (reading.problems.length <= 50) return;
    assert.match(reading.problems[50]?.message ?? "", /^there are more problems/);
  });
}

test("a file of more than 1 MiB is refused without being read", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, `{}${" ".repeat(LIMIT_BYTES - 1)}`);
  const reading = await readConfigFile(path);
  assert.ok(!reading.ok);
  assert.match(reading.problems[0]?.message ?? "", /larger than 1 MiB/);
  writeFileSync(path, `{}${" ".repeat(LIMIT_BYTES - 2)}`);
  assert.ok((await readConfigFile(path)).ok);
});

/** Writes to a file every few milliseconds, until the function that it returns is called. */
function writeConstantly(path: string, text: () => string): () => void {
  const timer = setInterval(() => writeFileSync(path, text()), 10);
  return () => clearInterval(timer);
}

test("a change is applied while another file in the directory is written all the time", async (t) => {
  const { path, source, waitForPort } = await watchNewConfig(t);
  const stop = writeConstantly(join(dirname(path), "neighbour.log"), () => String(Math.random()));
  t.after(stop);
  await waitForPort(2, () => writeFileSync(path, withPort(2)));
  await source.reload();
  assert.equal(source.current().listen.port, 2);
});

test("a reload ends while the file itself is written all the time", async (t) => {
  const { path, source } = await watchNewConfig(t);
  let count = 0;
  const stop = writeConstantly(path, () => withPort(2) + " ".repeat(count++ % 7));
  t.after(stop);
  await source.reload();
  assert.equal(source.current().listen.port, 2);
});
