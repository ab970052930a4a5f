import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readLastOfDay, readLedger, type DayRange } from "../../../src/adapters/ledger-file.ts";
import { Failure } from "../../../src/core/failure.ts";
import { ledgerScratchDirectory } from "../../helpers/ledger/ledger.ts";
import { RECORD_VERSION } from "../../../src/core/ledger/record.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

function directoryWith(t: TestContext, files: Record<string, string>): string {
  const directory = ledgerScratchDirectory(t);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

/** Returns the ids of the records and `file:line` of the unreadable lines, in the order of the reader. */
async function readAll(directory: string, range: DayRange = { from: "0000-01-01" }): Promise<string[]> {
  const seen: string[] = [];
  for await (const item of readLedger(directory, range)) {
    seen.push("unreadable" in item ? `${item.file}:${item.line}` : item.id);
  }
  return seen;
}

const line = (id: string, changes = {}) => `${JSON.stringify({ ...usageRecord({ id }), ...changes })}\n`;

test("returns records unchanged", async (t) => {
  const record = usageRecord({
    process: { pid: 4711, executable: "/usr/bin/claude", parents: ["zsh", "kitty"] },
    project: "/home/u/project",
    extra: [extraTokens({ type: "compaction", model: null, billable: true, output: 3 })],
    tokens: tokens({ input_uncached: 3, reasoning: null }),
  });
  const directory = directoryWith(t, { "2026-11-21.ndjson": `${JSON.stringify(record)}\n` });
  for await (const read of readLedger(directory, { from: "2026-11-21" })) assert.deepEqual(read, record);
});

test("returns null as process, project and branch of a record without these fields", async (t) => {
  const { process: _process, project: _project, branch: _branch, ...older } = usageRecord();
  const directory = directoryWith(t, { "2026-11-21.ndjson": `${JSON.stringify(older)}\n` });
  for await (const read of readLedger(directory, { from: "" })) {
    assert.deepEqual(read, { ...older, process: null, project: null, branch: null });
  }
});

test("reads the days of the range in order, the first and the last included, and no other files", async (t) => {
  const directory = directoryWith(t, {
    "2026-11-22.ndjson": line("22"),
    "2026-11-20.ndjson": line("20"),
    "2026-11-21.ndjson": line("21a") + line("21b"),
    "2026-11-19.ndjson": line("19"),
    "2026-11-21.torn": "torn\n",
    "notes.ndjson": "notes\n",
  });
  assert.deepEqual(await readAll(directory), ["19", "20", "21a", "21b", "22"]);
  assert.deepEqual(await readAll(directory, { from: "2026-11-20", to: "2026-11-21" }), ["20", "21a", "21b"]);
  assert.deepEqual(await readAll(directory, { from: "2026-11-22" }), ["22"]);
});

test("reports invalid lines by file and line, passes over torn ones, and reads the records around them", async (t) => {
  const foreign = [
    "not JSON",
    "null",
    "[1]",
    "{}",
    '{"v":1}',
    line("x", { tokens: { output: 5 } }).trim(),
    line("x", { tokens: tokens({ output: -1 }) }).trim(),
    line("x", { extra: [{ type: "compaction" }] }).trim(),
    line("x", { process: { pid: 1, executable: "/bin/x", parents: [2] } }).trim(),
    line("x", { process: { pid: "1", executable: "/bin/x", parents: [] } }).trim(),
    line("x", { project: ["/p"] }).trim(),
    line("x", { model: 5 }).trim(),
    line("").trim(),
  ];
  const torn = '{"v":2,"id":"to\n\n\0\0\n';
  const text = `${line("a")}${foreign.join("\n")}\n${torn}${line("b")}${line("torn").slice(0, -1)}`;
  const seen = await readAll(directoryWith(t, { "2026-11-21.ndjson": text }));
  const expected = foreign.map((_, index) => `2026-11-21.ndjson:${index + 2}`);
  assert.deepEqual(seen, ["a", ...expected, "b"]);
});

test("reports records of a later format as unreadable", async (t) => {
  const text = line("a") + line("b", { v: RECORD_VERSION + 1 }) + line("c");
  assert.deepEqual(await readAll(directoryWith(t, { "2026-11-21.ndjson": text })), [
    "a",
    "2026-11-21.ndjson:2",
    "c",
  ]);
});

/** How much the reader reads at once. A line of this length or more is not read. */
const BLOCK_BYTES = 4 * 1024 * 1024;

test("reads lines that cross the end of a block, up to the longest that fit in one", async (t) => {
  const wide = (id: string, bytes: number) => {
    const without = line(id, { raw_usage: { x: "" } }).length;
    return line(id, { raw_usage: { x: "x".repeat(bytes - without) } });
  };
  const text = [wide("a", 3e6), wide("b", 3e6), line("c"), wide("d", BLOCK_BYTES), line("e")].join("");
  const seen = await readAll(directoryWith(t, { "2026-11-21.ndjson": text }));
  assert.deepEqual(seen, ["a", "b", "c", "d", "e"]);
});

for (const blocks of [1, 2, 3]) {
  for (const more of [-1, 0, 1]) {
    const bytes = blocks * BLOCK_BYTES + more;
    test(`reports a line of ${bytes} bytes once, wherever it stands, and reads the records around it`, async (t) => {
      const long = "x".repeat(bytes);
      const directory = directoryWith(t, {
        "2026-11-19.ndjson": `${long}\n${long}\n${line("a")}`,
        "2026-11-20.ndjson": `${line("b")}${long}\n${line("c")}${line("d")}`,
        "2026-11-21.ndjson": `${line("e")}${long}`,
      });
      assert.deepEqual(await readAll(directory), [
        "2026-11-19.ndjson:1",
        "2026-11-19.ndjson:2",
        "a",
        "b",
        "2026-11-20.ndjson:2",
        "c",
        "d",
        "e",
        "2026-11-21.ndjson:2",
      ]);
    });
  }
}

test("the last records of a day are those of reading it whole, and no more than these are parsed", async (t) => {
  const spoilt = ["torn {", "", "null", line("later", { v: RECORD_VERSION + 1 }).trimEnd()];
  const lines = Array.from({ length: 40 }, (_, at) =>
    at % 4 === 3
      ? `${spoilt[Math.floor(at / 4) % spoilt.length] ?? ""}\n`
      : line(`r-${at}`, { tool: at % 3 === 0 ? "zed" : "codex", model: "é" }),
  );
  const day = "2026-11-20";
  const directory = directoryWith(t, { [`${day}.ndjson`]: `${lines.join("")}${line("unended").trimEnd()}` });
  const all = [];
  for await (const one of readLedger(directory, { from: day })) if (!("unreadable" in one)) all.push(one);
  for (const isWanted of [() => true, ({ tool }: { tool: string }) => tool === "zed"])
    for (const count of [1, 2, 7, 100]) {
      const asked: string[] = [];
      const last = await readLastOfDay(directory, day, count, (record) => {
        asked.unshift(record.id);
        return isWanted(record);
      });
      assert.deepEqual(last, all.filter(isWanted).slice(-count));
      assert.deepEqual(
        asked,
        all.slice(count === 100 ? 0 : all.findIndex(({ id }) => id === last[0]?.id)).map(({ id }) => id),
      );
    }
});

test("reads past a line of 700 MB in bounded memory", async (t) => {
  const directory = directoryWith(t, { "2026-11-21.ndjson": line("a") });
  const path = join(directory, "2026-11-21.ndjson");
  // Zeros that take no space on the disk, as a crash of the machine leaves them.
  truncateSync(path, 700e6);
  appendFileSync(path, `\n${line("b")}`);
  const before = process.memoryUsage().arrayBuffers;
  const seen: string[] = [];
  for await (const item of readLedger(directory, { from: "" })) {
    seen.push("unreadable" in item ? `${item.file}:${item.line}` : item.id);
    const held = process.memoryUsage().arrayBuffers - before;
    assert.ok(held < 2 * BLOCK_BYTES, `${held} bytes`);
  }
  assert.deepEqual(seen, ["a", "2026-11-21.ndjson:2", "b"]);
});

test("reads no records from a directory that does not exist", async (t) => {
  assert.deepEqual(await readAll(join(ledgerScratchDirectory(t), "nowhere")), []);
});

test("throws a Failure for a day that cannot be read", async (t) => {
  const directory = directoryWith(t, { "2026-11-20.ndjson": line("a") });
  symlinkSync(join(directory, "2026-11-20.ndjson"), join(directory, "2026-11-21.ndjson"));
  mkdirSync(join(directory, "2026-11-22.ndjson"));
  for (const [day, message] of [
    ["2026-11-21", /^tollkeeper does not read .*: it is a symbolic link/],
    ["2026-11-22", /^tollkeeper does not read .*: it is not a regular file/],
  ] as const) {
    await assert.rejects(readAll(directory, { from: day, to: day }), (error) => {
      assert.ok(error instanceof Failure);
      assert.match(error.message, message);
      return true;
    });
  }
});
