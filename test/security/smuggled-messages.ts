/** A message that tries to get gpt-6.2-sol past a group that allows gpt-5.5 only. `ID` stands for a response on the WebSocket. */
interface SmuggledMessage {
  by: string;
  message: string;
  /** With what it is refused. */
  code: "model_unreadable" | "model_not_allowed";
}

/** Stands for a long text, in {@link describeMessage}. */
const LONG = "x".repeat(200_000);

const MESSAGES: readonly (readonly [by: string, message: string, code?: "model_not_allowed"])[] = [
  ["a second model", `{"type":"response.create","model":"gpt-5.5","model":"gpt-6.2-sol"}`],
  [
    "a second model behind a long input",
    `{"type":"response.create","model":"gpt-5.5","input":"${LONG}","model":"gpt-6.2-sol"}`,
  ],
  ["an escaped name", `{"type":"response.create","model":"gpt-5.5","mod\\u0065l":"gpt-6.2-sol"}`],
  ["another case", `{"type":"response.create","model":"gpt-5.5","Model":"gpt-6.2-sol"}`],
  [
    "a late model",
    `{"type":"response.create","input":[{"model":"gpt-5.5"}],"model":"gpt-6.2-sol"}`,
    "model_not_allowed",
  ],
  ["an escaped value", `{"type":"response.create","model":"gpt-6.2-s\\u006fl"}`, "model_not_allowed"],
  ["no model", `{"type":"response.create","input":[]}`],
  ["a model that is no string", `{"type":"response.create","model":["gpt-6.2-sol"]}`],
  ["further models", `{"type":"response.create","model":"gpt-5.5","models":["gpt-6.2-sol"]}`],
  ["an extra body", `{"type":"response.create","model":"gpt-5.5","extra_body":{"model":"gpt-6.2-sol"}}`],
  [
    "a tool's model",
    `{"type":"response.create","model":"gpt-5.5","tools":[{"type":"x","model":"gpt-6.2-sol"}]}`,
  ],
  ["a second type", `{"type":"response.steer","previous_response_id":"ID","type":"response.create"}`],
  ["a second type first", `{"type":"response.create","previous_response_id":"ID","type":"response.steer"}`],
  [
    "a type in another case",
    `{"type":"response.steer","Type":"response.create","previous_response_id":"ID"}`,
  ],
  ["an escaped type", `{"type":"response.steer","t\\u0079pe":"response.create","previous_response_id":"ID"}`],
  [
    "a steer of an unknown response",
    `{"type":"response.steer","previous_response_id":"resp_unknown","input":[]}`,
  ],
  ["a steer without a response", `{"type":"response.steer","input":[]}`],
  [
    "a steer with a model",
    `{"type":"response.steer","previous_response_id":"ID","model":"gpt-6.2-sol"}`,
    "model_not_allowed",
  ],
  [
    "an injection with a model",
    `{"type":"response.inject","previous_response_id":"ID","model":"gpt-6.2-sol"}`,
    "model_not_allowed",
  ],
  ["an unknown type", `{"type":"response.start","previous_response_id":"ID"}`],
  ["no type", `{"input":[]}`],
  ["a warm-up", `{"type":"response.create","model":"gpt-6.2-sol","generate":false}`, "model_not_allowed"],
  ["a byte order mark", `\ufeff{"type":"response.create","model":"gpt-6.2-sol"}`],
  [
    "something behind the object",
    `{"type":"response.create","model":"gpt-5.5"}{"type":"response.create","model":"gpt-6.2-sol"}`,
  ],
  ["an object that is not closed", `{"type":"response.create","model":"gpt-5.5"`],
  ["an array", `[{"type":"response.create","model":"gpt-6.2-sol"}]`],
  ["a comment", `{/* */"type":"response.create","model":"gpt-5.5"}`],
  [
    "a name with a null character",
    `{"type":"response.create","model":"gpt-5.5","model\\u0000":"gpt-6.2-sol"}`,
  ],
  ["an empty message", ``],
  ["white space", `  `],
  ["NaN", `{"type":"response.create","model":"gpt-5.5","top_p":NaN}`],
  [
    "two models that are both escaped",
    `{"\\u006dodel":"gpt-5.5","m\\u006fdel":"gpt-6.2-sol","type":"response.create"}`,
  ],
  [
    "an escaped second model",
    `{"type":"response.create","model":"gpt-5.5","\\u006d\\u006f\\u0064\\u0065\\u006c":"gpt-6.2-sol"}`,
  ],
  ["three models", `{"type":"response.create","model":"gpt-5.5","model":"gpt-6.2-sol","model":"gpt-5.5"}`],
  ["a model before the type", `{"model":"gpt-6.2-sol","type":"response.create"}`, "model_not_allowed"],
  [
    "a model in another lane",
    `{"type":"response.create","stream_id":"two","model":"gpt-6.2-sol"}`,
    "model_not_allowed",
  ],
  [
    "a model that continues a response",
    `{"type":"response.create","previous_response_id":"ID","model":"gpt-6.2-sol"}`,
    "model_not_allowed",
  ],
  [
    "a steer with an escaped model",
    `{"type":"response.steer","previous_response_id":"ID","mod\\u0065l":"gpt-6.2-sol"}`,
  ],
  [
    "an injection with an escaped model",
    `{"type":"response.inject","previous_response_id":"ID","mod\\u0065l":"gpt-6.2-sol"}`,
  ],
  [
    "an injection with two types",
    `{"type":"response.inject","previous_response_id":"ID","type":"response.create","model":"gpt-6.2-sol"}`,
    "model_not_allowed",
  ],
];

/** SECURITY.md C12. */
export const SMUGGLED_MESSAGES: readonly SmuggledMessage[] = MESSAGES.map(([by, message, code]) => ({
  by,
  message,
  code: code ?? "model_unreadable",
}));

/** Returns the message as docs/testing.md shows it. */
export function describeMessage({ message }: SmuggledMessage): string {
  const shown = message.replace(LONG, "…").replace("\ufeff", "�");
  return shown.trim() === "" ? `${shown.length} spaces` : `\`${shown}\``;
}
