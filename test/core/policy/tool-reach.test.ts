import assert from "node:assert/strict";
import { test } from "node:test";
import { configSchema } from "../../../src/core/config/schema.ts";
import { findStrangers, reachOfTool, type ToolReach } from "../../../src/core/policy/tool-reach.ts";

const ANTHROPIC = { baseUrl: "https://api.anthropic.com/v1", apis: ["messages"] };
const OPENAI = { baseUrl: "https://api.openai.com/v1", apis: ["responses", "chat"] };
const ROUTER = { baseUrl: "https://router.example/v1" };
const LOCAL = { baseUrl: "http://127.0.0.1:11434/v1", models: ["qwen*"] };

function read(file: object) {
  const result = configSchema.read(file, []);
  if ("issues" in result) assert.fail(JSON.stringify(result.issues));
  return result.value;
}

function reachOf(file: object, model: string | null = null): string {
  const reach = reachOfTool(read(file), "mine", model);
  return (Object.keys(reach) as (keyof ToolReach)[]).filter((name) => reach[name]).join(" ");
}

for (const [what, file, expected, model] of [
  ["no upstream", {}, ""],
  ["a vendor's own service", { upstreams: { a: ANTHROPIC } }, "isAnthropic"],
  ["both vendors' own services", { upstreams: { a: ANTHROPIC, o: OPENAI } }, "isAnthropic isOpenai"],
  ["another service", { upstreams: { r: ROUTER } }, ""],
  [
    "an address that only begins like the vendor's",
    { upstreams: { x: { baseUrl: "https://api.openai.com.example/v1" } } },
    "",
  ],
  [
    "another service after the vendor's",
    { upstreams: { a: ANTHROPIC, o: OPENAI, r: ROUTER } },
    "isAnthropic isOpenai",
  ],
  ["another service before the vendor's", { upstreams: { r: ROUTER, a: ANTHROPIC, o: OPENAI } }, ""],
  [
    "a fallback to another service",
    { upstreams: { a: { ...ANTHROPIC, fallback: ["r"] }, o: OPENAI, r: ROUTER } },
    "isOpenai",
  ],
  ["a server of other models", { upstreams: { l: LOCAL, a: ANTHROPIC, o: OPENAI } }, "isAnthropic isOpenai"],
  [
    "an alias to a server of other models",
    { upstreams: { l: LOCAL, a: ANTHROPIC }, aliases: { "claude-haiku-4-5": "qwen3" } },
    "",
  ],
  [
    "the tool's own alias to one",
    { upstreams: { l: LOCAL, a: ANTHROPIC }, tools: { mine: { aliases: { x: "qwen3" } } } },
    "",
  ],
  [
    "another tool's alias to one",
    { upstreams: { l: LOCAL, a: ANTHROPIC }, tools: { yours: { aliases: { x: "qwen3" } } } },
    "isAnthropic",
  ],
  ["a model of a server of other models", { upstreams: { l: LOCAL, o: OPENAI } }, "", "qwen3"],
  [
    "another service for some of the vendor's models",
    { upstreams: { r: { ...ROUTER, models: ["claude-opus-*"] }, a: ANTHROPIC, o: OPENAI } },
    "isOpenai",
  ],
  [
    "an upstream that the tool may not use",
    { upstreams: { r: ROUTER, a: ANTHROPIC }, tools: { mine: { upstreams: ["a"] } } },
    "isAnthropic",
  ],
  [
    "an upstream with WebSockets",
    { upstreams: { o: { ...OPENAI, websocket: "auto" } } },
    "isOpenai hasWebSocket",
  ],
  ["another service with WebSockets", { upstreams: { r: { ...ROUTER, websocket: "auto" } } }, "hasWebSocket"],
] as const) {
  test(`with ${what} a tool reaches: ${expected || "nothing that only a vendor has"}`, () => {
    assert.equal(reachOf(file, model ?? null), expected);
  });
}

for (const [what, file, expected] of [
  ["no upstream", {}, null],
  ["an upstream of another API", { upstreams: { o: OPENAI } }, null],
  ["Anthropic's own service, and another API's", { upstreams: { a: ANTHROPIC, o: OPENAI } }, []],
  ["a server of other models", { upstreams: { a: ANTHROPIC, l: LOCAL } }, ["l"]],
  ["another service after Anthropic's", { upstreams: { a: ANTHROPIC, r: ROUTER } }, ["r"]],
  [
    "a fallback to another service",
    { upstreams: { a: { ...ANTHROPIC, fallback: ["r"] }, r: ROUTER } },
    ["r"],
  ],
  [
    "an alias for a model of another service",
    { upstreams: { a: ANTHROPIC, l: LOCAL }, aliases: { "claude-haiku-4-5": "qwen3" } },
    ["l"],
  ],
] as const) {
  test(`with ${what}, what can be reached outside Anthropic's own service is ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(findStrangers(read(file), "mine"), expected);
  });
}
