import assert from "node:assert/strict";
import { test } from "node:test";
import { createReading } from "../../../src/core/usage/usage-format.ts";
import { answeredBy, Conversations } from "../../../src/core/misses/conversations.ts";
import { describeMiss, habitFor } from "../../../src/core/misses/reasons.ts";
import { countsOf, HASHING, MINUTE, Script, type Counts, type Dialect } from "./script.ts";

type Json = Record<string, unknown>;

const MARK = { cache_control: { type: "ephemeral" } };
const LONG_MARK = { cache_control: { type: "ephemeral", ttl: "1h" } };

const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more });

/** A request of the Messages API with so many messages, the last of which is marked, as Claude Code sends it. */
function message(count: number, changes: Json = {}, mark: object = MARK): Json {
  return {
    model: "claude-opus-5-5",
    max_tokens: 1000,
    system: [
      text(`x-anthropic-billing-header: cc_version=2.1; cch=${count};`),
      text("You write code.", mark),
    ],
    tools: [
      { name: "bash", description: "runs a command", input_schema: { type: "object" } },
      { name: "read", description: "reads a file", input_schema: { type: "object" }, ...mark },
    ],
    messages: Array.from({ length: count }, (_, at) => ({
      role: at % 2 === 0 ? "user" : "assistant",
      content: [text(`message ${at}`, at === count - 1 ? mark : {})],
    })),
    stream: true,
    thinking: { type: "adaptive" },
    ...changes,
  };
}

/** A request of the Responses API with so many items, as Codex sends it. */
function response(count: number, changes: Json = {}): Json {
  return {
    model: "gpt-5.6-sol",
    instructions: "You write code.",
    tools: [{ type: "function", name: "shell", parameters: { type: "object" } }],
    input: Array.from({ length: count }, (_, at) => ({
      type: "message",
      role: at % 2 === 0 ? "user" : "assistant",
      content: [{ type: at % 2 === 0 ? "input_text" : "output_text", text: `item ${at}` }],
    })),
    stream: true,
    prompt_cache_key: "session-1",
    reasoning: { effort: "high" },
    ...changes,
  };
}

/** Items with one of them changed. */
function edited(items: unknown, at: number): unknown[] {
  const copy = structuredClone(items) as Json[];
  copy[at] = { ...copy[at], content: [text("something else"), text("and more")] };
  return copy;
}

const HIT: Counts = { read: 20_000, write: 5_000 };
const MISS: Counts = { read: 0, write: 26_000 };
const PART: Counts = { read: 9_000, write: 17_000 };

interface Cause {
  what: string;
  dialect: Dialect;
  expected: string;
  tokens: number;
  /** Between the two requests, in minutes. */
  idle?: number;
  first?: Json;
  next: Json;
  counts?: Counts;
}

const tool = { name: "grep", description: "searches", input_schema: {} };

/** What happens to a session that has 25,000 tokens in the cache. */
const CAUSES: Cause[] = [
  {
    what: "another model",
    dialect: "messages",
    expected: "model_changed",
    tokens: 25_000,
    next: message(5, { model: "claude-sonnet-5" }),
  },
  {
    what: "another tool",
    dialect: "messages",
    expected: "tools_changed",
    tokens: 25_000,
    next: message(5, { tools: [tool] }),
  },
  {
    what: "another tool, although something was read that stands behind it",
    dialect: "messages",
    expected: "unknown",
    tokens: 16_000,
    next: message(5, { tools: [tool] }),
    counts: PART,
  },
  {
    what: "another system prompt",
    dialect: "messages",
    expected: "system_changed",
    tokens: 16_000,
    next: message(5, { system: [text("It is 12:01.", MARK)] }),
    counts: PART,
  },
  {
    what: "an edited message",
    dialect: "messages",
    expected: "messages_changed",
    tokens: 16_000,
    next: message(5, { messages: edited(message(5)["messages"], 1) }),
    counts: PART,
  },
  {
    what: "another first message",
    dialect: "messages",
    expected: "messages_changed",
    tokens: 16_000,
    next: message(5, { messages: edited(message(5)["messages"], 0) }),
    counts: PART,
  },
  {
    what: "thinking switched off",
    dialect: "messages",
    expected: "thinking_changed",
    tokens: 16_000,
    next: message(5, { thinking: { type: "disabled" } }),
    counts: PART,
  },
  {
    what: "a tool that has to be used",
    dialect: "messages",
    expected: "tool_choice_changed",
    tokens: 16_000,
    next: message(5, { tool_choice: { type: "any" } }),
    counts: PART,
  },
  {
    what: "no more marks",
    dialect: "messages",
    expected: "marks_removed",
    tokens: 25_000,
    next: message(5, {}, {}),
    counts: { uncached: 26_000 },
  },
  {
    what: "seven minutes",
    dialect: "messages",
    expected: "idle_5m",
    tokens: 25_000,
    idle: 7,
    next: message(5),
  },
  {
    what: "seven minutes with a lifetime of an hour",
    dialect: "messages",
    expected: "unknown",
    tokens: 25_000,
    idle: 7,
    first: message(3, {}, LONG_MARK),
    next: message(5, {}, LONG_MARK),
  },
  {
    what: "two hours with a lifetime of an hour",
    dialect: "messages",
    expected: "idle_1h",
    tokens: 25_000,
    idle: 120,
    first: message(3, {}, LONG_MARK),
    next: message(5, {}, LONG_MARK),
  },
  {
    what: "nothing that a request shows",
    dialect: "messages",
    expected: "unknown",
    tokens: 25_000,
    next: message(5),
  },
  {
    what: "another model",
    dialect: "responses",
    expected: "model_changed",
    tokens: 25_000,
    next: response(5, { model: "gpt-5.6-luna" }),
  },
  {
    what: "another tool",
    dialect: "responses",
    expected: "tools_changed",
    tokens: 25_000,
    next: response(5, { tools: [tool] }),
  },
  {
    what: "other instructions",
    dialect: "responses",
    expected: "system_changed",
    tokens: 25_000,
    next: response(5, { instructions: "It is 12:01." }),
  },
  {
    what: "an edited item",
    dialect: "responses",
    expected: "input_changed",
    tokens: 16_000,
    next: response(5, { input: edited(response(5)["input"], 1) }),
    counts: PART,
  },
  {
    what: "an edited item of which nothing before is read either",
    dialect: "responses",
    expected: "unknown",
    tokens: 25_000,
    next: response(5, { input: edited(response(5)["input"], 1) }),
  },
  {
    what: "another cache key",
    dialect: "responses",
    expected: "prompt_cache_key_changed",
    tokens: 25_000,
    next: response(5, { prompt_cache_key: "session-2" }),
  },
  {
    what: "40 minutes",
    dialect: "responses",
    expected: "idle_30m",
    tokens: 25_000,
    idle: 40,
    next: response(5),
  },
  {
    what: "20 minutes",
    dialect: "responses",
    expected: "unknown",
    tokens: 25_000,
    idle: 20,
    next: response(5),
  },
  {
    what: "another effort, of which no rule is known",
    dialect: "responses",
    expected: "unknown",
    tokens: 25_000,
    next: response(5, { reasoning: { effort: "low" } }),
  },
];

for (const { what, dialect, expected, tokens, idle = 1, first, next, counts = MISS } of CAUSES)
  test(`${dialect}: a miss after ${what} is ${expected}`, () => {
    for (const isInPieces of [false, true]) {
      const script = new Script(dialect, { isInPieces });
      const life = dialect === "messages" ? "5m" : "30m";
      const before = first ?? (dialect === "messages" ? message(3) : response(3));
      assert.equal(script.send(before, { ...HIT, life }), null);
      script.wait(idle * MINUTE);
      assert.deepEqual(script.send(next, counts), { miss: expected, miss_tokens: tokens });
    }
    assert.notEqual(describeMiss(expected), expected);
    assert.notEqual(habitFor(expected), null);
  });

test("a small prompt is hashed once something of it is in the cache, and another one as it passes", () => {
  let hashed = 0;
  const hashing = {
    key: HASHING.key,
    checksum: (bytes: Buffer, start: number) => {
      hashed += bytes.length;
      return HASHING.checksum(bytes, start);
    },
  };
  const script = new Script("messages", { hashing });
  assert.equal(script.send(message(1), { write: 1_023 }), null);
  assert.equal(hashed, 0);
  assert.equal(script.send(message(1), HIT), null);
  assert.ok(hashed > 0);
  const small = hashed;
  script.begin(message(1, { system: "You write code. ".repeat(300) }), "agent-2");
  assert.ok(hashed > small + 4_800, `${hashed}`);
});

test("a session that goes on as it should has no miss, wherever its marks are", () => {
  const script = new Script("messages");
  let cached = 0;
  for (const count of [1, 3, 5, 7]) {
    const write = 2_000;
    assert.equal(script.send(message(count), { read: cached, write }), null);
    cached += write;
    script.wait(MINUTE);
  }
});

test("a text and a list of blocks with a mark are the same message", () => {
  const script = new Script("messages");
  const plain = (count: number) =>
    (message(count)["messages"] as Json[]).map((one, at) =>
      at === count - 1 ? one : { ...one, content: `message ${at}` },
    );
  script.send(message(5, { messages: plain(5) }), HIT);
  assert.deepEqual(script.send(message(7, { messages: plain(7) }), PART), {
    miss: "unknown",
    miss_tokens: 16_000,
  });
});

test("of two requests at once the second misses what the first is writing", () => {
  const script = new Script("messages");
  const [one, two, three] = [message(3), message(3), message(5)].map((body) => script.begin(body));
  assert.ok(one !== undefined && two !== undefined && three !== undefined);
  one.begin();
  script.wait(MINUTE);
  assert.equal(script.end(one, { write: 25_000 }), null);
  two.begin();
  assert.deepEqual(script.end(two, { write: 25_000 }), { miss: "parallel", miss_tokens: 25_000 });
  // It shares only what the first has marked.
  assert.deepEqual(script.end(three, { write: 30_000 }), { miss: "parallel", miss_tokens: 25_000 });
  // Once the response to one has begun, others can read it.
  const late = script.begin(message(5));
  assert.equal(script.end(late, { read: 30_000, write: 500 }), null);
});

test("a request that comes after the response to another has begun misses nothing that this one is writing", () => {
  const script = new Script("messages");
  const one = script.begin(message(3));
  one.begin();
  const two = script.begin(message(3));
  assert.equal(script.end(one, { write: 25_000 }), null);
  assert.equal(script.end(two, { write: 25_000 }), null);
});

test("of two requests at once that differ, and without a stream, nothing is known", () => {
  for (const changes of [
    { tools: [tool] },
    { output_config: { effort: "low" } },
    { model: "claude-sonnet-5" },
  ]) {
    const script = new Script("messages");
    const [one, two] = [script.begin(message(3)), script.begin(message(3, changes))];
    assert.equal(script.end(one, { write: 25_000 }), null);
    assert.equal(script.end(two, { write: 25_000 }), null);
  }
  const script = new Script("messages");
  const plain = message(3, { stream: false });
  const [one, two] = [script.begin(plain), script.begin(plain)];
  assert.equal(script.end(one, { write: 25_000 }), null);
  assert.equal(script.end(two, { write: 25_000 }), null);
});

test("what is no miss: a new conversation, a shorter one, a small difference, another agent, a fork's first request", () => {
  const script = new Script("messages");
  const other = message(5, {
    messages: [0, 1, 2, 3, 4].map((at) => ({ role: "user", content: `other ${at}` })),
  });
  script.send(message(5), HIT);
  assert.equal(script.send(other, MISS), null);
  assert.equal(script.send(message(3), MISS), null);
  assert.equal(script.send(message(5), { read: 25_000 }), null);
  assert.equal(script.send(message(7), { read: 24_000, write: 3_000 }), null);
  const fork = script.begin(message(7, { tools: [tool] }), "agent-2");
  assert.equal(script.end(fork, MISS), null);
  // A prompt that is too small to be missed much.
  assert.equal(script.send(message(9, { tools: [tool] }), { uncached: 900 }), null);
});

test("a change that did no harm before is no reason", () => {
  const script = new Script("messages");
  script.send(message(3), HIT);
  // Tools that are only searched for are not in the prompt.
  assert.equal(script.send(message(5, { tools: [tool] }), { read: 25_000, write: 1_000 }), null);
  const another = { tools: [{ ...tool, name: "glob" }] };
  assert.deepEqual(script.send(message(7, another), MISS), { miss: "unknown", miss_tokens: 26_000 });
});

test("a conversation that comes back to its tools is compared with its own last request", () => {
  const script = new Script("messages");
  script.send(message(3), HIT);
  assert.equal(script.send(message(5, { tools: [tool] }), MISS)?.miss, "tools_changed");
  assert.equal(script.send(message(5), { read: 25_000, write: 1_000 }), null);
  assert.equal(script.send(message(7), MISS)?.miss, "unknown");
});

test("a response that goes on from another is compared with that", () => {
  const script = new Script("responses");
  const next = (changes: Json = {}) => response(1, { previous_response_id: "resp_1", ...changes });
  script.send(response(5), { ...HIT, life: "30m" }, "resp_1");
  assert.equal(script.send(next({ previous_response_id: "resp_0" }), MISS), null);
  assert.equal(script.send(next({ tools: [tool] }), MISS)?.miss, "tools_changed");
  script.wait(45 * MINUTE);
  assert.equal(script.send(next(), MISS)?.miss, "idle_30m");
});

test("where the service never says that it has written anything, marks have no lifetime", () => {
  const script = new Script("messages");
  script.send(message(3), { read: 20_000 });
  script.wait(10 * MINUTE);
  assert.deepEqual(script.send(message(5), { uncached: 30_000 }), { miss: "unknown", miss_tokens: 20_000 });
});

test("a system prompt keeps its hash whatever Claude Code says of itself in its first block", () => {
  const script = new Script("messages");
  script.send(message(3), HIT);
  assert.equal(script.send(message(5), MISS)?.miss, "unknown");
  // What follows the block is compared all the same.
  const other = new Script("messages");
  other.send(message(3), HIT);
  const system = [text("x-anthropic-billing-header: cc_version=2.1; cch=5;"), text("You write prose.", MARK)];
  assert.equal(other.send(message(5, { system }), MISS)?.miss, "system_changed");
});

test("responses whose counts are not those of one prompt are left out", () => {
  const reading = { ...createReading("completed", "final"), tokens: countsOf(HIT) };
  assert.notEqual(answeredBy(reading, 0), null);
  assert.notEqual(answeredBy({ ...reading, usage: "partial", outcome: "cut" }, 0), null);
  assert.notEqual(answeredBy({ ...reading, raw_usage: { iterations: [{}] } }, 0), null);
  for (const changes of [
    { tokens: null },
    { usage: "partial" as const },
    { server_tools: { web_search: 1 } },
    { raw_usage: { iterations: [{}, {}] } },
    { extra: [{ ...countsOf(HIT), type: "compaction", model: null, billable: true as const }] },
  ])
    assert.equal(answeredBy({ ...reading, ...changes }, 0), null);
});

test("a request that ends after its agent was dropped is not counted", () => {
  const script = new Script("chat");
  const body = { model: "m", messages: [{ role: "user", content: "Hello" }] };
  const early = script.begin(body, "early");
  for (let at = 0; at < 1_000; at += 1) script.end(script.begin(body, `agent-${at}`), HIT);
  assert.equal(script.conversations.size, 1_000);
  script.end(early, HIT);
  assert.equal(script.conversations.size, 1_000);
});

test("memory stays bounded, whatever comes", () => {
  const script = new Script("chat");
  const conversations = script.conversations;
  const messages = Array.from({ length: 800 }, (_, at) => ({ role: "user", content: `${at}` }));
  for (let at = 0; at < 1_500; at += 1) {
    const running = script.begin({ model: "m", messages: at % 2 === 0 ? messages : [] }, `agent-${at}`);
    script.end(running, HIT);
  }
  assert.ok(conversations.size <= 500_000, `${conversations.size}`);
  // 500 of the messages are kept of each.
  assert.equal(conversations.size, 500 * 500);
  for (let at = 0; at < 1_500; at += 1) script.end(script.begin({ model: `m${at}`, messages }), HIT);
  assert.ok(conversations.size <= 500_000);
  assert.ok(new Conversations(HASHING).size === 0);
});
