import type { Mutant } from "./mutant.ts";

const CONTRADICTIONS = { row: "E5", test: "test/core/usage/contradictions.test.ts" };
const CALLS = { row: "E5", test: "test/core/usage/hosted-calls.test.ts" };
const REPORT = { row: "E5", test: "test/core/ledger/report.test.ts" };
const COST = { row: "E5", test: "test/core/price/hosted-calls.test.ts" };
const METER = { row: "E5", test: "test/core/usage/meter.test.ts" };
const BATCH = { row: "E5", test: "test/core/usage/batch.test.ts" };
const PROMPTS = { row: "E5", test: "test/core/usage/batch-prompts.test.ts" };
const STREAMS = { row: "C11", test: "test/core/budget/streams.test.ts" };
const COUNTING = { row: "C11", test: "test/core/budget/counting.test.ts" };

const FALLEN = "src/core/usage/fallen-counts.ts";
const RESULTS = "src/core/usage/batch/results.ts";
const SETS = "src/core/usage/batch/batch-sets.ts";
const OUTPUT = { row: "E5", test: "test/core/usage/batch-output.test.ts" };
const HOSTED = "src/core/usage/hosted-calls.ts";

/** Rules on what the usage of a response is, and on what budgets assume where it is not exact: E5 and C11. */
export const USAGE: readonly Mutant[] = [
  {
    ...BATCH,
    without: "taking results that were cut for a part",
    file: SETS,
    find: "isWhole && this.#isComplete",
    replace: "this.#isComplete",
  },
  {
    ...BATCH,
    without: "taking a part of the results for no whole",
    file: "src/core/usage/meter.ts",
    find: "hasLines && status === PARTIAL_CONTENT",
    replace: "hasLines && status < PARTIAL_CONTENT - 6",
  },
  {
    ...OUTPUT,
    without: "taking a part of the output for no whole",
    file: "src/core/usage/meter.ts",
    find: 'dialect === "batch_results" || dialect === "batch_output"',
    replace: 'dialect === "batch_results"',
  },
  {
    ...OUTPUT,
    without: "leaving out what failed in the output of a batch",
    file: "src/core/usage/batch/output.ts",
    find: "if (!isSuccess(status)) return;",
    replace: "",
  },
  {
    ...OUTPUT,
    without: "taking an output with sound for inexact",
    file: "src/core/usage/batch/output.ts",
    find: "reading.model === null || hasMedia(asObject(reading.raw_usage))",
    replace: "reading.model === null",
  },
  {
    ...OUTPUT,
    without: "knowing the output only of a batch that has ended",
    file: "src/core/usage/batch.ts",
    find: "output_file: isRunning ? null : asText(output),",
    replace: "output_file: asText(output),",
  },
  {
    ...OUTPUT,
    test: "test/core/budget/background-counts.test.ts",
    without: "preferring the output of a batch to its sum",
    file: "src/core/ledger/spend.ts",
    find: "return hasSizes(earlier) && !hasSizes(later) ? earlier : later;",
    replace: "return later;",
  },
  {
    ...OUTPUT,
    test: "test/proxy/batch-output.test.ts",
    without: "looking for the batch of a file after a restart",
    file: "src/adapters/ledger-file/find-created.ts",
    find: '["response_id", "output_file"]',
    replace: '["response_id"]',
  },
  {
    ...BATCH,
    without: "counting only requests that succeeded",
    file: RESULTS,
    find: 'if (asText(type) !== "succeeded") return;',
    replace: "",
  },
  {
    ...PROMPTS,
    without: "keeping prompts of a batch apart that have different prices",
    file: SETS,
    find: "set.inference_geo, placeOf(set)]",
    replace: "set.inference_geo]",
  },
  {
    ...PROMPTS,
    without: "keeping requests of a batch apart that ran in different regions",
    file: SETS,
    find: "set.inference_geo, placeOf(set)]",
    replace: "placeOf(set)]",
  },
  {
    ...PROMPTS,
    test: "test/core/price/batches.test.ts",
    without: "pricing a set of a batch by its own region",
    file: "src/core/price/charge.ts",
    find: "const { speed, geo } = served ?? modifiers;",
    replace: "const { speed, geo } = modifiers;",
  },
  {
    row: "E5",
    test: "test/core/usage/model-tokens.test.ts",
    without: "showing only the sets of a batch that are of the record's model",
    file: "src/core/usage/batch/model-tokens.ts",
    find: "set.type !== BATCH_SET || set.model !== model",
    replace: "set.type !== BATCH_SET",
  },
  {
    ...PROMPTS,
    without: "taking the prompts of a tool loop for shorter than their sum",
    file: SETS,
    find: "smallest_prompt: isLoop ? 0 : size,",
    replace: "smallest_prompt: size,",
  },
  {
    ...PROMPTS,
    without: "the largest prompt of a set",
    file: SETS,
    find: "Math.max(sum.largest_prompt, set.largest_prompt)",
    replace: "Math.min(sum.largest_prompt, set.largest_prompt)",
  },
  {
    ...PROMPTS,
    test: "test/core/price/batches.test.ts",
    without: "pricing the prompts of a batch by their own size",
    file: "src/core/price/charge.ts",
    find: "prompts ?? { least: prompt, most: prompt }",
    replace: "{ least: prompt, most: prompt }",
  },
  {
    ...BATCH,
    without: "waiting for the end of a batch",
    file: "src/core/usage/batch.ts",
    find: "const isCounted = !isRunning && isKnown;",
    replace: "const isCounted = isKnown;",
  },
  {
    ...CONTRADICTIONS,
    without: "taking zeros after counts for filler",
    file: FALLEN,
    find: "if (is === 0 && !hasGrown) {",
    replace: "if (is === 0 && hasGrown) {",
  },
  {
    ...CONTRADICTIONS,
    without: "flagging a count that falls",
    file: FALLEN,
    find: 'this.flags.add("counts_fell");',
    replace: "",
  },
  {
    ...CONTRADICTIONS,
    without: "keeping the higher figure",
    file: FALLEN,
    find: "this.#earlier[name] = Math.max(this.#earlier[name] ?? 0, was);",
    replace: "",
  },
  {
    ...CONTRADICTIONS,
    without: "calling nothing exact that contradicts itself",
    file: "src/core/usage/usage-format.ts",
    find: 'isFinal && !UNDECIDED.some((flag) => flags.has(flag)) ? "final" : "partial"',
    replace: 'isFinal ? "final" : "partial"',
  },
  {
    ...CONTRADICTIONS,
    without: "reading the names of another API",
    file: "src/core/usage/sent-counts.ts",
    find: "return readNamed(usage, isOther ? OTHER[own] : own);",
    replace: "return readNamed(usage, isOther ? own : own);",
  },
  {
    ...CALLS,
    without: "counting the calls that the output lists",
    file: HOSTED,
    find: "if (known !== undefined && known >= listed) continue;",
    replace: "if (known === undefined || known >= listed) continue;",
  },
  {
    ...CALLS,
    without: "leaving out calls that the client runs",
    file: HOSTED,
    find: "if (RUN_BY_CLIENT.has(tool) || TOKENS_ONLY.has(tool)) return null;",
    replace: "if (TOKENS_ONLY.has(tool)) return null;",
  },
  {
    ...CALLS,
    without: "knowing models that search",
    file: HOSTED,
    find: "return model !== null && SEARCH_MODEL.test(model) ? { web_search_preview: 1 } : {};",
    replace: "return model !== null && SEARCH_MODEL.test(model) ? {} : {};",
  },
  {
    ...REPORT,
    without: "telling what tollkeeper refused from what failed because of its upstream",
    file: "src/core/ledger/spend.ts",
    find: 'return outcome === "rejected" && !isOfUpstream(type);',
    replace: 'return outcome === "rejected" && isOfUpstream(type);',
  },
  {
    ...CALLS,
    without: "leaving out calls whose results have not come",
    file: HOSTED,
    find: "const proved = begun - open.filter((one) => one === tool).length;",
    replace: "const proved = begun - open.filter((one) => one !== tool).length;",
  },
  {
    ...CALLS,
    without: "leaving out calls that failed",
    file: HOSTED,
    find: "const calls = (this.#calls.get(tool) ?? 0) - 1;",
    replace: "const calls = this.#calls.get(tool) ?? 0;",
  },
  {
    ...CALLS,
    without: "knowing models that search in a stream that was cut",
    file: "src/core/usage/chat.ts",
    find: "...(tokens === null && !this.#hasContent ? {} : callsOfModel(this.#model)),",
    replace: "...(tokens === null ? {} : callsOfModel(this.#model)),",
  },
  {
    ...COST,
    without: "the fees of calls where the usage is unknown",
    file: "src/core/price/charge-cost.ts",
    find: 'if (certainty === "unknown" && !hasCalls(charge)) return { ...FREE, certainty };',
    replace: 'if (certainty === "unknown") return { ...FREE, certainty };',
  },
  {
    ...COST,
    without: "calling fees alone a lower bound",
    file: "src/core/price/cost.ts",
    find: "const isLowerBound = isUnknown || costs.some(",
    replace: "const isLowerBound = costs.some(",
  },
  {
    ...STREAMS,
    without: "telling the fees of calls from what is assumed",
    file: "src/core/budget/spent.ts",
    find: "if (isUnknown) return { known: fees, assumed: all - fees, isUnpriced: false };",
    replace: "if (isUnknown) return { known: 0n, assumed: all - fees, isUnpriced: false };",
  },
  {
    ...METER,
    without: "telling an event stream by its first bytes",
    file: "src/core/usage/body-reader.ts",
    find: 'return LINE_STARTS.some((line) => start.startsWith(line)) ? "events" : null;',
    replace: "return null;",
  },
  {
    ...STREAMS,
    without: "counting the text of a stream without usage",
    file: "src/core/price/parts.ts",
    find: "const output = Math.max(record.output_estimate ?? estimateTokens(received), reserved ?? 0);",
    replace: "const output = estimateTokens(received);",
  },
  {
    ...STREAMS,
    without: "counting the text of a stream that was cut",
    file: "src/core/price/charge.ts",
    find: 'record.usage === "partial" ? assumedPart(record) : null',
    replace: 'record.usage === "none" ? assumedPart(record) : null',
  },
  {
    ...COUNTING,
    without: "assuming something for calls without a price",
    file: "src/core/budget/spent.ts",
    find: "priceOf(count, ASSUMED_PIECES.get(tool) ?? ASSUMED_CALL, 0)",
    replace: "priceOf(0, ASSUMED_CALL, 0)",
  },
  {
    row: "E5",
    without: "writing costs in rows so that they have room",
    test: "test/cli/terminal/every-width.test.ts",
    file: "src/cli/commands/live/request-row.ts",
    find: "amount < LARGE ? LESS_THAN_A_DOLLAR : amount",
    replace: "LESS_THAN_A_DOLLAR",
  },
  {
    row: "E5",
    without: "taking only nothing for a share of 0 %",
    test: "test/cli/commands/usage/table.test.ts",
    file: "src/cli/commands/usage/columns.ts",
    find: "formatShare(Number(part), Number(whole))",
    replace: "formatShare(Math.round(share * 1_000) / 1_000, 1)",
  },
];
