import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import type { MeterSetup } from "../../../../src/core/usage/meter.ts";
import type { MeterReading } from "../../../../src/core/usage/reading.ts";
import { asCount } from "../../../../src/core/usage/fields.ts";
import { readModalities } from "../../../../src/core/usage/gemini/usage.ts";
import type { Expected } from "../corpus.ts";

const DIRECTORY = new URL("../../../../../shared/corpus/gemini/", import.meta.url);
const INDEX = new URL("index.json", DIRECTORY);

/** One body of Google's API, and what its record must have. */
export interface GeminiFile {
  file: string;
  operation: string;
  http_status: number;
  content_type: string;
  expected: Expected;
}

/** Why tests on these bodies cannot run; null when they can. */
export const GEMINI_MISSING = existsSync(INDEX) ? null : `the recorded bodies are missing: ${INDEX.pathname}`;

/** Lists the bodies; none when they are missing. */
export function listGemini(): GeminiFile[] {
  if (GEMINI_MISSING !== null) return [];
  return (JSON.parse(readFileSync(INDEX, "utf8")) as { files: GeminiFile[] }).files;
}

export function readGemini({ file }: GeminiFile): Buffer {
  return readFileSync(new URL(file, DIRECTORY));
}

/** Operations that carry counts, if any, which are not what the request spent. */
const SPENDING = new Set(["inference", "embeddings"]);

/** Returns the meter setup for a body's route and response head. */
export function geminiSetup({ operation, http_status: status, content_type }: GeminiFile): MeterSetup {
  return {
    dialect: "gemini",
    spend: SPENDING.has(operation) ? "count" : "never",
    status,
    contentType: content_type,
    inputIncludesCache: false,
  };
}

/** True for a recording of a connection that broke. */
export function wasBroken({ expected }: GeminiFile): boolean {
  return expected["outcome"] === "cut";
}

export function isEventStream({ content_type }: GeminiFile): boolean {
  return content_type.startsWith("text/event-stream");
}

/** Tiers by the names that Vertex has for them. */
const TIERS: Readonly<Record<string, string>> = {
  ON_DEMAND: "standard",
  ON_DEMAND_FLEX: "flex",
};

/** What the index names for the modalities of a kind. */
const LISTS = { prompt: "input", cached: "cache_read", output: "output", toolUse: "tool_use" } as const;

/** Members of the index that are not of the reading. */
const NOT_COMPARED = new Set([
  // The model that was asked for.
  "model",
  // What would be as good, and what the body has that is no spend.
  "outcome_also",
  "optional",
  "extra_facts",
  // Compared under the names that a record has.
  "block_reason",
  "traffic_type",
]);

/** Asserts that a reading is what the index expects of a body. */
export function assertAsExpected(reading: MeterReading, file: GeminiFile): void {
  const described = describe(reading);
  const wanted = adapt(file);
  for (const [name, value] of Object.entries(wanted)) {
    if (NOT_COMPARED.has(name)) continue;
    // The index leaves it open whether the event in which a connection broke is flagged.
    const isOpen = name === "flags" && wasBroken(file);
    const read = isOpen ? reading.flags.filter((flag) => flag !== "bad_json") : described[name];
    assert.deepEqual(read, value, name);
  }
}

/** Says it in a record's words. */
function adapt({ operation, expected }: GeminiFile): Expected {
  const { traffic_type: traffic, block_reason: blocked, stop, service_tier: tier, flags } = expected;
  return {
    ...expected,
    stop: stop ?? blocked ?? null,
    service_tier: tier ?? TIERS[String(traffic)] ?? null,
    // A route that never spends has no usage, whatever its body holds.
    usage_state: SPENDING.has(operation) ? expected["usage_state"] : "none",
    flags: [...((flags as string[] | undefined) ?? [])].toSorted(),
    modality: expected["modality"] ?? {},
  };
}

function describe(reading: MeterReading): Expected {
  const { tokens, raw_usage: usage } = reading;
  const modality = Object.entries(readModalities(usage ?? {}) ?? {}).map(([kind, counts]) => [
    LISTS[kind as keyof typeof LISTS],
    counts,
  ]);
  return {
    outcome: reading.outcome,
    stop: reading.stop,
    usage_state: reading.usage,
    spend_rule: reading.spend,
    lower_bound: reading.usage === "partial",
    response_id: reading.response_id,
    served_model: reading.model,
    service_tier: reading.service_tier,
    error_type: reading.error_type,
    tokens: tokens === null ? null : describeTokens(tokens, usage ?? {}),
    extra: reading.extra,
    // In this index 0 where nothing was counted.
    grand_total: tokens?.total ?? 0,
    maybe_unbilled: 0,
    server_tools: reading.server_tools,
    raw_usage: usage,
    modality: Object.fromEntries(modality) as unknown,
    flags: reading.flags.toSorted(),
  };
}

function describeTokens(
  { output, ...tokens }: NonNullable<MeterReading["tokens"]>,
  usage: Record<string, unknown>,
): Expected {
  const toolUse = asCount(usage["toolUsePromptTokenCount"]) ?? asCount(usage["total_tool_use_tokens"]) ?? 0;
  return { ...tokens, output_total: output, tool_use_prompt: toolUse };
}
