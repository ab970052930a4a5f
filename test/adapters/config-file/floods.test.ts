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

const NOT_CHECKED =
  /^the file is too long or too deeply nested for a configuration; the rest is not checked$/;

interface Flood {
  text: string;
  /** The message of one of its problems. */
  problem: RegExp;
}

/** Each has far more faults than are reported. */
const FLOODS: Record<string, Flood> = {
  "what is no JSON, on one line": { text: flood("{", () => "x,", "}"), problem: /not JSON/ },
  "what is no JSON, on as many lines": { text: flood("{", () => "x,\n", "}"), problem: /not JSON/ },
  "brackets that are never closed": { text: "[".repeat(LIMIT_BYTES - 1), problem: NOT_CHECKED },
  "brackets that are closed": {
    text: "[".repeat(LIMIT_BYTES / 2 - 1) + "]".repeat(LIMIT_BYTES / 2 - 1),
    problem: NOT_CHECKED,
  },
  "numbers in a list": { text: flood('{"upstreams":[', () => "1,", "1]}"), problem: NOT_CHECKED },
  "unknown keys": {
    text: flood("{", (i) => `"key${String(i).padStart(60, "0")}":1,`, '"last":1}'),
    problem: /unknown key/,
  },
  "one key again and again": { text: flood("{", () => '"a":1,', '"a":1}'), problem: /is defined twice/ },
  "tools of upstreams that do not exist": {
    text: flood(
      `{"upstreams":{${UPSTREAM}},"tools":{`,
      (i) => `"t${i}":{"upstreams":["u${i}"]},`,
      '"last":{}}}',
    ),
    problem: /no upstream is called "u0"/,
  },
  "upstreams without an address": {
    text: flood('{"upstreams":{', (i) => `"u${i}":{},`, `${UPSTREAM}}}`),
    problem: NOT_CHECKED,
  },
  routes: {
    text: flood(
      '{"upstreams":{"default":{"baseUrl":"https://a.example/v1","routes":[',
      () => "{},",
      "{}]}}}",
    ),
    problem: NOT_CHECKED,
  },
  "list items of the wrong type": {
    text: flood('{"listen":{"allowedHosts":[', () => "1,", "1]}}"),
    problem: NOT_CHECKED,
  },
  "misspelled names as long as names may be": {
    text: `{"upstreams":{${listOf(900, (i) => `"${"ab".repeat(29)}${1000 + i}":{"baseUrl":"https://a.example/v1"}`)},${UPSTREAM}},"tools":{${listOf(900, (i) => `"t${i}":{"upstreams":["${"ba".repeat(29)}x${1000 + i}"]}`)}}}`,
    problem: /no upstream is called/,
  },
  "one long key": { text: `{"${"a".repeat(LIMIT_BYTES - 100)}":1}`, problem: /unknown key/ },
  "two names that are far too long": {
    text: `{"upstreams":{${UPSTREAM},"${"ab".repeat(10_000)}":{}},"tools":{"t":{"upstreams":["${"ba".repeat(10_000)}"]}}}`,
    problem: /no upstream is called/,
  },
};

function listOf(count: number, item: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => item(index)).join();
}

/** Five times what any flood takes. Work that grows with the square of a flood's length takes more. */
const LIMIT_CPU_MS = 1_200;

for (const [what, { text, problem }] of Object.entries(FLOODS)) {
  test(`a file full of ${what} is refused with at most the first fifty problems, in little processor time`, async (t) => {
    const path = join(scratchDirectory(t), "config.jsonc");
    writeFileSync(path, text);
    const before = process.cpuUsage();
    const reading = await readConfigFile(path);
    const { user, system } = process.cpuUsage(before);
    assert.ok(!reading.ok);
    const messages = reading.problems.map(({ message }) => message);
    assert.ok(
      messages.some((message) => problem.test(message)),
      messages[0],
    );
    assert.ok(messages.length <= 51, String(messages.length));
    if (messages.length > 50) assert.match(messages[50] ?? "", /^there are more problems/);
    assert.ok(user + system < LIMIT_CPU_MS * 1000, `${(user + system) / 1000} ms`);
  });
}

test("a configuration with a thousand upstreams and a thousand tools is accepted", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  const upstream = { baseUrl: "https://a.example/v1", key: "k", routes: [] };
  const upstreams = Object.fromEntries(Array.from({ length: 999 }, (_, i) => [`u${i}`, upstream]));
  const tools = Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => [`t${i}`, { upstreams: [`u${i % 999}`] }]),
  );
  writeFileSync(path, JSON.stringify({ upstreams: { default: upstream, ...upstreams }, tools }));
  const reading = await readConfigFile(path);
  assert.ok(reading.ok, reading.ok ? "" : reading.problems[0]?.message);
});

test("of a file that is not checked to its end, the problems up to there are reported, each with its line, and nothing is said of what was cut", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  // Fewer problems than are reported: what is said of the cut must not be left out as one too many.
  const hosts = Array.from({ length: 50_000 }, () => '"a.example",').join("\n");
  const twice = '"tools": {},\n"tools": {},';
  writeFileSync(
    path,
    `{\n"portt": 1,\n"upstreams": { "default": { } },\n${twice}\n"listen": { "allowedHosts": [\n${hosts}\n] } }`,
  );
  const reading = await readConfigFile(path);
  assert.ok(!reading.ok);
  const [first, second, third] = reading.problems;
  assert.deepEqual([first?.line, second?.line, third?.line], [2, 3, 5]);
  assert.match(
    `${first?.message} ${second?.message} ${third?.message}`,
    /^unknown key .* is missing is defined twice$/,
  );
  const rest = reading.problems.slice(3);
  assert.equal(rest.length, 1, JSON.stringify(rest));
  assert.match(rest[0]?.message ?? "", NOT_CHECKED);
});

test("an entry that is cut off where checking ends has no problem of its own", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  const entry = '"u#": { "baseUrl": "https://a.example/v1" },\n';
  const upstreams = Array.from({ length: 900 }, (_, i) => entry.replace("#", String(i))).join("");
  const open = '{ "upstreams": {\n' + upstreams + '"default": { "routes": [' + "\n{ },".repeat(30_000);
  writeFileSync(path, open);
  const reading = await readConfigFile(path);
  assert.ok(!reading.ok);
  const missing = reading.problems.filter(({ path: at }) => at === "upstreams.default.baseUrl");
  assert.deepEqual(missing, []);
});

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

// A limit of the waiting time is a rule of its own. Here time stands still, so that it does not hide a rule that is broken.
test(
  "a change and a reload take effect while another file in the directory is written all the time",
  { timeout: 300_000 },
  async (t) => {
    t.mock.method(performance, "now", () => 0);
    const { path, source, waitForPort } = await watchNewConfig(t);
    const stop = writeConstantly(join(dirname(path), "neighbour.log"), () => String(Math.random()));
    t.after(stop);
    await waitForPort(2, () => writeFileSync(path, withPort(2)));
    await source.reload();
    assert.equal(source.current().listen.port, 2);
  },
);

test("a reload ends while the file itself is written all the time", { timeout: 300_000 }, async (t) => {
  const { path, source } = await watchNewConfig(t);
  let count = 0;
  const stop = writeConstantly(path, () => withPort(2) + " ".repeat(count++ % 7));
  t.after(stop);
  await source.reload();
  assert.equal(source.current().listen.port, 2);
});
