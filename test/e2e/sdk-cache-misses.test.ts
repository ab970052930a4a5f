// Sessions with known causes of cache misses, by the official SDKs through a daemon to services that have a cache and keep books.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { startCachingMessages } from "../helpers/upstream/caching-messages.ts";
import { startCachingResponses } from "../helpers/upstream/caching-responses.ts";

type Body = Readonly<Record<string, unknown>>;

const LIMIT = { timeout: 300_000 };

/** Dollars per million tokens. */
const PRICE = { input: 2, cacheRead: 0.2, cacheWrite: 2.5, output: 10 };

/** A part of a prompt that is long enough to be cached. */
const long = (text: string) => `${text}. `.repeat(1_200);
const MARK = { cache_control: { type: "ephemeral" } };

/** A change of a request, and the reason that is right for it. */
interface Cause {
  change: Body;
  /** Of the service; null where it gives none. */
  said: string | null;
  /** What can be known from the requests. */
  inferred: string;
}

/** What a service billed for a response. */
interface Booked {
  id: string;
  read: number;
  written: number;
  uncached: number;
}

/** What the service says of the next request that asks why. */
interface Answer {
  reason: string | null;
  /** Tokens that the request before has read. */
  cached: number;
}

/** A daemon, and a client of the service behind it. */
interface Scene {
  daemon: Daemon;
  request: Body;
  /** Returns what asks the service to compare a request with an earlier one. */
  asking(previous: string): Body;
  send(body: Body, session: string): Promise<Booked>;
  /** The service forgets what it has cached. */
  drop(): void;
}

async function startPriced(t: TestContext, baseUrl: string): Promise<Daemon> {
  const { config } = writeKeyFile(t, baseUrl, "sk-made-up-4711");
  return startDaemon(t, { config: { ...config, prices: { "house-1": PRICE, "house-2": PRICE } } });
}

async function openMessages(t: TestContext, answer: Answer): Promise<Scene> {
  const { baseUrl, books, cache } = await startCachingMessages(t, {
    diagnose: (_asked, { read }) =>
      answer.reason === null
        ? null
        : { type: answer.reason, cache_missed_input_tokens: answer.cached - read },
  });
  const daemon = await startPriced(t, baseUrl);
  const client = new Anthropic({ baseURL: daemon.url, apiKey: "any" });
  return {
    daemon,
    request: MESSAGES,
    asking: (previous) => ({ diagnostics: { previous_message_id: previous } }),
    drop: () => cache.drop(),
    async send(body, session) {
      await client.messages.stream(body as never, { headers: { "x-session-id": session } }).finalMessage();
      return books.at(-1) ?? assert.fail();
    },
  };
}

async function openResponses(t: TestContext, answer: Answer): Promise<Scene> {
  const { baseUrl, books, cache } = await startCachingResponses(t, {
    diagnose: ({ read }) =>
      answer.reason === null ? null : { reason: answer.reason, cache_missed_tokens: answer.cached - read },
  });
  const daemon = await startPriced(t, baseUrl);
  const client = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: "any" });
  return {
    daemon,
    request: RESPONSES,
    asking: (previous) => ({ prompt_cache_options: { comparison_response_id: previous } }),
    drop: () => cache.drop(),
    async send(body, session) {
      await client.responses.create(body as never, { headers: { "x-session-id": session } });
      return { written: 0, ...(books.at(-1) ?? assert.fail()) };
    },
  };
}

/** What a miss costs more than a hit, by the service's books, in dollars. */
function lossOf({ written, uncached }: Booked, missed: number): number {
  const rewritten = Math.min(missed, written);
  const others = Math.min(missed - rewritten, uncached);
  const { input, cacheRead, cacheWrite } = PRICE;
  return (rewritten * (cacheWrite - cacheRead) + others * (input - cacheRead)) / 1_000_000;
}

/** A miss as the ledger and the report have it, and by the service's books. */
interface Found {
  cause: Cause;
  reason: string | null;
  by: string | null;
  tokens: number | null;
  /** Dollars over a hit. */
  cost: number;
  books: { tokens: number; cost: number };
}

/** Sends a request that fills the cache, the same again, and a changed one, for each cause in a session of its own. */
async function findMisses(
  t: TestContext,
  open: typeof openMessages,
  causes: readonly Cause[],
  isAsking: boolean,
): Promise<Found[]> {
  const answer: Answer = { reason: null, cached: 0 };
  const { daemon, request, asking, send, drop } = await open(t, answer);
  const bills: { tokens: number; cost: number }[] = [];
  for (const [at, { change, said }] of causes.entries()) {
    const session = `session-${at}`;
    drop();
    await send(request, session);
    const hit = await send(request, session);
    Object.assign(answer, { reason: said, cached: hit.read });
    const booked = await send({ ...request, ...change, ...(isAsking && asking(hit.id)) }, session);
    answer.reason = null;
    // What is inferred is no more than the prompt has; a service counts what it had in its cache.
    const size = booked.read + booked.written + booked.uncached;
    const tokens = (isAsking ? hit.read : Math.min(hit.read, size)) - booked.read;
    bills.push({ tokens, cost: lossOf(booked, tokens) });
  }
  const records = await daemon.ledger();
  assert.equal(records.length, 3 * causes.length);
  const { stdout } = await daemon.command("usage", "--by", "session,miss", "--json");
  const { rows } = JSON.parse(stdout) as { rows: Record<string, unknown>[] };
  return causes.map((cause, at) => {
    const missed = records.filter(({ session, miss }) => session === `session-${at}` && miss !== null);
    assert.ok(missed.length <= 1, `${cause.inferred}: only the changed request may miss`);
    const row = rows.find(({ session, miss }) => session === `session-${at}` && miss !== null);
    const [
      { miss: reason, miss_by: by, miss_tokens: tokens } = { miss: null, miss_by: null, miss_tokens: null },
    ] = missed;
    const books = bills[at] ?? assert.fail();
    return { cause, reason, by, tokens, cost: Number(row?.["miss_cost_usd"]), books };
  });
}

function assertBooks({ reason, tokens, cost, books }: Found): void {
  assert.equal(tokens, books.tokens, `${reason}: tokens`);
  assert.ok(Math.abs(cost - books.cost) < 1e-9, `${reason}: ${cost}, but by the books ${books.cost}`);
}

const MESSAGES: Body = {
  model: "house-1",
  max_tokens: 100,
  system: [{ type: "text", text: long("You are an agent"), ...MARK }],
  tools: [{ name: "shell", description: long("Runs a command"), input_schema: { type: "object" } }],
  messages: [
    { role: "user", content: [{ type: "text", text: long("Fix it") }] },
    { role: "assistant", content: [{ type: "text", text: "Where?" }] },
    { role: "user", content: [{ type: "text", text: long("In foo.ts"), ...MARK }] },
  ],
};
const otherTools = [{ name: "read", description: long("Reads a file"), input_schema: { type: "object" } }];

const MESSAGES_CAUSES: readonly Cause[] = [
  { change: { model: "house-2" }, said: "model_changed", inferred: "model_changed" },
  { change: { tools: otherTools }, said: "tools_changed", inferred: "tools_changed" },
  {
    change: { system: [{ type: "text", text: long("You are a poet"), ...MARK }] },
    said: "system_changed",
    inferred: "system_changed",
  },
  {
    change: {
      messages: [
        { role: "user", content: [{ type: "text", text: long("Fix that") }] },
        ...(MESSAGES["messages"] as object[]).slice(1),
      ],
    },
    said: "messages_changed",
    inferred: "messages_changed",
  },
];

/** Of these the service says nothing (docs/wire.md section 5). */
const INFERRED_ONLY: readonly Cause[] = [
  { change: { tool_choice: { type: "none" } }, said: "", inferred: "tool_choice_changed" },
  {
    change: { thinking: { type: "enabled", budget_tokens: 1_024 } },
    said: "",
    inferred: "thinking_changed",
  },
];

const RESPONSES: Body = {
  model: "house-1",
  instructions: long("You are an agent"),
  tools: [{ type: "function", name: "shell", description: long("Runs a command"), parameters: {} }],
  prompt_cache_key: "one",
  input: [
    { type: "message", role: "user", content: long("Fix it") },
    { type: "message", role: "user", content: long("In foo.ts") },
  ],
};

const RESPONSES_CAUSES: readonly Cause[] = [
  { change: { model: "house-2" }, said: "model_changed", inferred: "model_changed" },
  {
    change: { prompt_cache_key: "two" },
    said: "prompt_cache_key_changed",
    inferred: "prompt_cache_key_changed",
  },
  {
    change: { tools: [{ type: "function", name: "read", description: long("Reads"), parameters: {} }] },
    said: "tools_changed",
    inferred: "tools_changed",
  },
  { change: { text: { format: { type: "json_object" } } }, said: "text_format_changed", inferred: "unknown" },
  { change: { reasoning: { effort: "high" } }, said: "reasoning_effort_changed", inferred: "unknown" },
  { change: { text: { verbosity: "low" } }, said: "verbosity_changed", inferred: "unknown" },
  {
    change: {
      input: [
        { type: "message", role: "user", content: long("Fix that") },
        { type: "message", role: "user", content: long("In foo.ts") },
      ],
    },
    said: "input_changed",
    inferred: "input_changed",
  },
  { change: { service_tier: "priority" }, said: "service_tier_changed", inferred: "unknown" },
];

test(
  "where a service says why the cache was missed, every reason, its tokens and its cost are right",
  LIMIT,
  async (t) => {
    const found = [
      ...(await findMisses(t, openMessages, MESSAGES_CAUSES, true)),
      ...(await findMisses(t, openResponses, RESPONSES_CAUSES, true)),
    ];
    assert.equal(found.length, 12);
    for (const one of found) {
      assert.deepEqual([one.reason, one.by], [one.cause.said, "said"]);
      assertBooks(one);
    }
  },
);

test(
  "where no service says it, no reason is wrong, and tokens and costs are those of the books",
  LIMIT,
  async (t) => {
    const found = [
      ...(await findMisses(t, openMessages, [...MESSAGES_CAUSES, ...INFERRED_ONLY], false)),
      ...(await findMisses(t, openResponses, RESPONSES_CAUSES, false)),
    ];
    const right = found.filter(({ reason }) => reason !== "unknown");
    t.diagnostic(`${right.length} of ${found.length} reasons are found, the others are unknown`);
    for (const one of found) {
      assert.deepEqual([one.reason, one.by], [one.cause.inferred, "inferred"]);
      assertBooks(one);
    }
  },
);
