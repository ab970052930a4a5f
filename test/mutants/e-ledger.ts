import type { Mutant } from "./mutant.ts";

const E1_TORN = { row: "E1", test: "test/adapters/ledger-file/torn-line.test.ts" };
const E2_RETENTION = { row: "E2", test: "test/adapters/ledger-file/retention.test.ts" };
const E2_SUMS = { row: "E2", test: "test/cli/sums/sum-ledger.test.ts" };
const E2_MONTHS = { row: "E2", test: "test/cli/sums/sum-months.test.ts" };
const E3_READER = { row: "E3", test: "test/adapters/ledger-file/reader.test.ts" };

const TORN = "src/adapters/ledger-file/torn-line.ts";
const DAYS = "src/core/ledger/day.ts";
const READER = "src/adapters/ledger-file/reader.ts";
const MONTH_FILE = "src/adapters/ledger-file/closed-days/month-file.ts";
const MONTH_PLAN = "src/cli/sums/plan-months.ts";
const BLOCKS = "src/adapters/ledger-file/after/line-blocks.ts";

/** Rules on what stands in the ledger's files, and how long: E1 to E3. */
export const LEDGER: readonly Mutant[] = [
  {
    ...E1_TORN,
    without: "looking for the start of a torn line in blocks",
    file: TORN,
    find: "if (block.length < BLOCK_BYTES) block = Buffer.alloc(BLOCK_BYTES)",
    replace: "block = Buffer.alloc(size)",
  },
  {
    ...E1_TORN,
    without: "reading a record at the end of a torn line",
    file: "src/core/ledger/parse-record.ts",
    find: 'end > 0 ? parseRecord(line.slice(end)) : "torn"',
    replace: '"torn" as UsageRecord | NoRecord',
  },
  {
    ...E1_TORN,
    without: "passing over torn lines",
    file: READER,
    find: 'if (record === "torn" || (!block.isWhole',
    replace: "if ((!block.isWhole",
  },
  {
    ...E1_TORN,
    without: "leaving a line alone that another daemon may be writing",
    file: TORN,
    find: 'fs.writeSync(fd, "\\n");',
    replace: "fs.ftruncateSync(fd, start);",
  },
  {
    ...E2_RETENTION,
    without: "distrusting a clock that leaps ahead",
    file: DAYS,
    find: "let confirmed = past.at(-CONFIRMING_DAYS) ?? past[0] ?? today;",
    replace: "let confirmed = today;",
  },
  {
    ...E2_RETENTION,
    without: "waiting for three days with records after a leap",
    file: DAYS,
    find: "const CONFIRMING_DAYS = 3;",
    replace: "const CONFIRMING_DAYS = 2;",
  },
  {
    ...E2_RETENTION,
    without: "stopping at a gap between the days",
    file: DAYS,
    find: "if (day === addDays(confirmed, 1)) confirmed = day;",
    replace: "if (day > confirmed) confirmed = day;",
  },
  {
    ...E2_RETENTION,
    without: "ignoring days of the future",
    file: DAYS,
    find: ".filter((day) => day < today)",
    replace: "",
  },
  {
    ...E2_RETENTION,
    without: "sums on the disk before records are deleted",
    file: "src/adapters/ledger-file/closed-days/close-days.ts",
    find: "await keepSums(directory, day, wanted);\n  const names",
    replace: "const names",
  },
  {
    ...E2_SUMS,
    without: "deleting sums of less than a day before it is compressed",
    file: "src/adapters/ledger-file/closed-days/close-days.ts",
    find: "if (rollup === null && found !== null && !areDeleted(found.files, before)) deleteCaches(directory, day);",
    replace: "",
  },
  {
    ...E2_SUMS,
    without: "keeping sums apart from caches once their records are deleted",
    file: "src/adapters/ledger-file/closed-days/close-days.ts",
    find: 'writeRollup(directory, found.read(), [], "kept");',
    replace: "writeRollup(directory, found.read(), []);",
  },
  {
    ...E2_SUMS,
    without: "keeping sums apart that an earlier version had among the caches",
    file: "src/adapters/ledger-file/closed-days/close-days.ts",
    find: "keepApart(directory, day);\n    } catch",
    replace: "} catch",
  },
  {
    ...E2_SUMS,
    without: "making the sums of a day again whose records have changed",
    file: "src/cli/sums/plan-days.ts",
    find: "file.isCurrent && areSame(file.files, files) && ",
    replace: "",
  },
  {
    ...E2_SUMS,
    without: "keeping the sums of records that somebody else deleted",
    file: "src/cli/sums/plan-days.ts",
    find: "file !== null && areDeleted(file.files, files)",
    replace: "file?.files.length === 0",
  },
  {
    ...E2_SUMS,
    without: "telling by the sums of a day which requests a plan paid",
    file: "src/core/ledger/rollup/rollup-sums.ts",
    find: "this.#addPayers(part.block, rows, view);",
    replace: "",
  },
  {
    ...E2_SUMS,
    without: "telling by the sums of a day which requests tools' own keys paid",
    file: "src/core/ledger/rollup/rollup-sums.ts",
    find: 'this.#sums.addColumn(OWN_REQUESTS, paidBy("own"), sums.requests);',
    replace: "",
  },
  {
    row: "E2",
    test: "test/core/ledger/report.test.ts",
    without: "telling apart the reasoning that no response reported",
    file: "src/core/ledger/rollup/rollup-sums.ts",
    find: "known === 0 ? null : ",
    replace: "",
  },
  {
    ...E2_SUMS,
    without: "verifying the checksum of details",
    file: "src/adapters/ledger-file/closed-days/details-file.ts",
    find: "isIntact: !isCurrent || crc32(bytes) === crc,",
    replace: "isIntact: true,",
  },
  {
    ...E2_SUMS,
    without: "dividing details where a zone's hours begin",
    file: "src/cli/sums/plan-days.ts",
    find: 'if (this.#question.by.includes("hour")) return',
    replace: "if (this.#question.by.length > 9) return",
  },
  {
    ...E2_SUMS,
    without: "verifying the checksum of sums",
    file: "src/core/ledger/rollup/rollup-text.ts",
    find: "checksum(sums) === crc[0] && ",
    replace: "",
  },
  {
    ...E2_MONTHS,
    without: "making the sums of a month again of which a day has changed",
    file: MONTH_FILE,
    find: "file?.isCurrent === true && areSameDays(file.days, days) ? file",
    replace: "file?.isCurrent === true ? file",
  },
  {
    ...E2_MONTHS,
    without: "telling from the rollup of a day that it has changed",
    file: "src/adapters/ledger-file/closed-days/list-days.ts",
    find: 'return [...files, ...stateOf(directory, sumsFileName(day, "rollup"))];',
    replace: "return [...files];",
  },
  {
    ...E2_MONTHS,
    without: "the days of a month whose records are deleted, one by one",
    file: MONTH_FILE,
    find: "files.length > 0 && hasRollup && !isKept",
    replace: "files.length > 0 && hasRollup",
  },
  {
    ...E2_MONTHS,
    without: "verifying the checksum of a month",
    file: "src/core/ledger/rollup/month-text.ts",
    find: "if (isCurrent && JSON.stringify(found) !== JSON.stringify(crc)) return null;",
    replace: "",
  },
  {
    ...E2_MONTHS,
    without: "making the sums of a month again for prices that tell more times apart",
    file: MONTH_PLAN,
    find: "known?.hasPrices(this.#slots) === true && tells",
    replace: "known !== null && tells",
  },
  {
    ...E2_MONTHS,
    without: "the days of a month that tell prompts apart by other sizes",
    file: MONTH_PLAN,
    find: "file === null || !tellsPromptsApart(file, limits, this.#slots)",
    replace: "file === null",
  },
  {
    ...E2_MONTHS,
    without: "the days of a month of which the period has a part",
    file: MONTH_PLAN,
    find: "since > from || (until !== null && until < to) || ",
    replace: "",
  },
  {
    ...E2_MONTHS,
    without: "the days of a month where a zone's months are others",
    file: MONTH_PLAN,
    find: "this.#calendar.startOf(first) === from && this.#calendar.startOf(next) === to",
    replace: "true",
  },
  {
    ...E2_MONTHS,
    without: "deleting the sums of a month whose records are deleted",
    file: "src/adapters/ledger-file/closed-days/close-days.ts",
    find: "deleteFile(join(directory, sumsFileName(day, cache)));\n  deleteMonthOf(directory, day);",
    replace: "deleteFile(join(directory, sumsFileName(day, cache)));",
  },
  {
    ...E2_SUMS,
    without: "adding to what is compressed already",
    file: "src/adapters/ledger-file/closed-days/compress-day.ts",
    find: "fs.existsSync(target) ? fs.readFileSync(target) : Buffer.alloc(0)",
    replace: "Buffer.alloc(0)",
  },
  {
    row: "E3",
    test: "test/adapters/ledger-file/day-lines.test.ts",
    without: "a limit on the length of a line that is read",
    file: BLOCKS,
    find: "const buffer = Buffer.allocUnsafe(blockBytes);",
    replace: "const buffer = Buffer.allocUnsafe(16 * blockBytes);",
  },
  {
    ...E3_READER,
    without: "skipping the rest of a line that is too long",
    file: BLOCKS,
    find: "skipped = from > 0 ? 0 : skipped + held;",
    replace: "skipped = 0;",
  },
  {
    ...E3_READER,
    without: "reporting a line that is too long",
    file: BLOCKS,
    find: "if (from > 0) yield { bytes: null, length: skipped + from, isWhole: true };",
    replace: "",
  },
];
