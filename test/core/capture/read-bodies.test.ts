// How requests and answers of each API are read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readResponse } from "../../../src/core/capture/read-response.ts";
import { readRequest } from "../../../src/core/capture/read-request.ts";

/** What a request says, without sizes. */
function outline(body: object) {
  const read = readRequest(JSON.stringify(body));
  return {
    settings: read?.settings.map(([name]) => name),
    system: read?.system.map(({ text }) => text),
    tools: read?.tools.map(({ name }) => name),
    messages: read?.messages.map(({ role, pieces }) => [
      role,
      ...pieces.map(({ kind, text }) => `${kind}: ${text}`),
    ]),
  };
}

const EXPECTED = {
  system: ["You are an agent."],
  tools: ["shell"],
  messages: [
    ["user", "text: Fix it"],
    ["assistant", 'call: shell {"command":"ls"}'],
    ["tool", "result: a.ts"],
  ],
};
const ARGUMENTS = '{"command":"ls"}';

test("a request of the Messages API", () => {
  assert.deepEqual(
    outline({
      model: "claude-sonnet-5",
      system: [{ type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "shell", input_schema: {} }],
      messages: [
        { role: "user", content: "Fix it" },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "1", name: "shell", input: { command: "ls" } }],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "a.ts" }] }],
        },
      ],
    }),
    { ...EXPECTED, settings: ["model"], messages: EXPECTED.messages.with(2, ["user", "result: a.ts"]) },
  );
});

test("a request of the Responses API, also as a message on a WebSocket", () => {
  const request = {
    model: "gpt-5",
    instructions: "You are an agent.",
    tools: [{ type: "function", name: "shell" }],
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: "Fix it" }] },
      { type: "function_call", call_id: "1", name: "shell", arguments: ARGUMENTS },
      { type: "function_call_output", call_id: "1", output: "a.ts" },
    ],
  };
  assert.deepEqual(outline(request), { ...EXPECTED, settings: ["model"] });
  assert.deepEqual(outline({ type: "response.create", response: request }), {
    ...EXPECTED,
    settings: ["model"],
  });
  assert.deepEqual(outline({ type: "response.create", ...request }), {
    ...EXPECTED,
    settings: ["type", "model"],
  });
});

test("tools that Codex offers among the messages, in namespaces", () => {
  const tools = [
    { type: "namespace", name: "functions", tools: [{ type: "custom", name: "exec" }, { name: "wait" }] },
    { type: "web_search" },
  ];
  const read = outline({
    input: [
      { type: "additional_tools", role: "developer", tools },
      { type: "message", role: "developer", content: [{ type: "input_text", text: "You are an agent." }] },
    ],
  });
  assert.deepEqual(read.tools, ["functions.exec", "functions.wait", "web_search"]);
  assert.deepEqual([read.system, read.messages], [["You are an agent."], []]);
});

test("a request of Chat Completions", () => {
  assert.deepEqual(
    outline({
      model: "gpt-5",
      tools: [{ type: "function", function: { name: "shell" } }],
      messages: [
        { role: "system", content: "You are an agent." },
        { role: "user", content: "Fix it" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ type: "function", function: { name: "shell", arguments: ARGUMENTS } }],
        },
        { role: "tool", content: "a.ts" },
      ],
    }),
    { ...EXPECTED, settings: ["model"] },
  );
});

test("what a tool says in the developer's name later on is a message, as Claude Code says it", () => {
  const note = { role: "system", content: "14,968,002 tokens left" };
  const asked = { role: "user", content: "Fix it" };
  const read = outline({ system: "You are an agent.", messages: [asked, note, asked] });
  assert.deepEqual(read.system, ["You are an agent."]);
  assert.deepEqual(
    read.messages?.map(([role]) => role),
    ["user", "system", "user"],
  );
});

test("a request of Google's API", () => {
  assert.deepEqual(
    outline({
      systemInstruction: { parts: [{ text: "You are an agent." }] },
      tools: [{ functionDeclarations: [{ name: "shell" }, { name: "read" }] }],
      contents: [
        { role: "user", parts: [{ text: "Fix it" }] },
        { role: "model", parts: [{ functionCall: { name: "shell", args: { command: "ls" } } }] },
        { role: "user", parts: [{ functionResponse: { name: "shell", response: "a.ts" } }] },
      ],
    }),
    {
      settings: [],
      system: EXPECTED.system,
      tools: ["shell", "read"],
      messages: [EXPECTED.messages[0], ["model", EXPECTED.messages[1]?.[1]], ["user", "result: a.ts"]],
    },
  );
});

test("what is no request to a model is none", () => {
  assert.equal(readRequest("--boundary\r\n"), null);
  assert.equal(readRequest("[1]"), null);
  assert.deepEqual(readRequest('{"purpose":"batch"}')?.settings, [["purpose", '"batch"']]);
});

const sse = (...events: object[]) =>
  events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join("");

/** What an answer says. */
function answer(body: string) {
  const read = readResponse(body);
  return [read?.stop ?? null, ...(read?.pieces ?? []).map(({ kind, text }) => `${kind}: ${text}`)];
}

const CALL = 'call: shell {"command":"ls"}';

test("an answer is put together from its events", () => {
  const messages = sse(
    { type: "message_start", message: { content: [] } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "I will " } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "look." } },
    { type: "content_block_start", index: 2, content_block: { type: "tool_use", name: "shell", input: {} } },
    { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: ARGUMENTS } },
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
  );
  assert.deepEqual(answer(messages), ["tool_use", "thinking: Hm.", "text: I will look.", CALL]);
  const chat = sse(
    { choices: [{ index: 0, delta: { reasoning_content: "Hm." } }] },
    { choices: [{ index: 0, delta: { content: "I will look." } }] },
    {
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, function: { name: "shell", arguments: '{"command"' } }] },
        },
      ],
    },
    {
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, function: { arguments: ':"ls"}' } }] },
          finish_reason: "tool_calls",
        },
      ],
    },
  );
  assert.deepEqual(answer(`${chat}data: [DONE]\n\n`), [
    "tool_calls",
    "thinking: Hm.",
    "text: I will look.",
    CALL,
  ]);
  const google = [
    { candidates: [{ content: { parts: [{ text: "I will " }] } }] },
    {
      candidates: [
        {
          content: {
            parts: [{ text: "look." }, { functionCall: { name: "shell", args: { command: "ls" } } }],
          },
          finishReason: "STOP",
        },
      ],
    },
  ];
  for (const body of [sse(...google), JSON.stringify(google)])
    assert.deepEqual(answer(body), ["STOP", "text: I will look.", CALL]);
});

test("of the Responses API the last event counts, or what came of one that was cut", () => {
  const output = [
    { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] },
    { type: "message", content: [{ type: "output_text", text: "I will look." }] },
    { type: "function_call", name: "shell", arguments: ARGUMENTS },
  ];
  const begun = [
    { type: "response.created", response: { status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 1, item: { type: "message", content: [] } },
    { type: "response.output_text.delta", output_index: 1, delta: "I will " },
    { type: "response.output_item.added", output_index: 2, item: { type: "function_call", name: "shell" } },
    { type: "response.function_call_arguments.delta", output_index: 2, delta: ARGUMENTS },
  ];
  const whole = { type: "response.completed", response: { status: "completed", output } };
  const read = ["completed", "thinking: Hm.", "text: I will look.", CALL];
  assert.deepEqual(answer(sse(...begun, whole)), read);
  assert.deepEqual(answer([...begun, whole].map((event) => JSON.stringify(event)).join("\n")), read);
  assert.deepEqual(answer(JSON.stringify({ object: "response", status: "completed", output })), read);
  assert.deepEqual(answer(sse(...begun)), ["in_progress", "text: I will ", CALL]);
});

test("whole answers, errors and other bodies", () => {
  const message = { role: "assistant", content: [{ type: "text", text: "Hello" }], stop_reason: "end_turn" };
  assert.deepEqual(answer(JSON.stringify(message)), ["end_turn", "text: Hello"]);
  assert.deepEqual(
    answer(JSON.stringify({ choices: [{ message: { content: "Hello" }, finish_reason: "stop" }] })),
    ["stop", "text: Hello"],
  );
  assert.deepEqual(answer(JSON.stringify({ type: "error", error: { message: "no" } })), [null]);
  assert.equal(readResponse("<html>"), null);
  assert.equal(readResponse(""), null);
});
