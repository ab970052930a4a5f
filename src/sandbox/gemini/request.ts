import { isObject, type JsonObject } from "../../core/json.ts";
import { ApiError } from "../errors.ts";
import { findTypedText, type Prompt } from "../generation/completion.ts";
import { collectTexts, pickObjects } from "../json.ts";

/** What the sandbox evaluates of a request that creates content. */
interface ContentRequest {
  /** The parts of the prompt in the order of the prompt cache: system instruction, tools, contents. */
  parts: string[];
  prompt: Prompt;
  /** Infinity when the client sets none. */
  maxTokens: number;
}

/** Reads the body of `:generateContent`. @throws ApiError 400 without contents */
export function readContentRequest(body: JsonObject): ContentRequest {
  const contents = pickObjects(body["contents"]);
  if (contents.length === 0)
    throw new ApiError(400, "* GenerateContentRequest.contents: contents is not specified");
  const config = isObject(body["generationConfig"]) ? body["generationConfig"] : {};
  const limit = config["maxOutputTokens"];
  const head = [body["systemInstruction"], ...pickObjects(body["tools"])].filter(isObject);
  return {
    parts: [...head, ...contents].map((part) => JSON.stringify(part)),
    prompt: readPrompt(body, contents, config),
    maxTokens: typeof limit === "number" && limit > 0 ? limit : Infinity,
  };
}

function readPrompt(body: JsonObject, contents: readonly JsonObject[], config: JsonObject): Prompt {
  const last = pickObjects(contents.at(-1)?.["parts"]);
  const results = last.flatMap(({ functionResponse }) =>
    isObject(functionResponse) ? [functionResponse] : [],
  );
  const users = contents.filter(({ role }) => role !== "model");
  const thinking = config["thinkingConfig"];
  const schema = config["responseSchema"] ?? config["responseJsonSchema"];
  return {
    lastText: findTypedText(users.flatMap(({ parts }) => collectTexts(parts))),
    toolResult:
      results.length > 0 ? results.map(({ response }) => JSON.stringify(response)).join("\n") : null,
    tools: readTools(body["tools"]),
    wantsReasoning: isObject(thinking) && thinking["thinkingBudget"] !== 0,
    schema: isObject(schema) ? schema : null,
  };
}

function readTools(tools: unknown): Prompt["tools"] {
  return pickObjects(tools)
    .flatMap(({ functionDeclarations }) => pickObjects(functionDeclarations))
    .flatMap(({ name, parameters, parametersJsonSchema }) => {
      const schema = parametersJsonSchema ?? parameters;
      return typeof name === "string" ? [{ name, schema: isObject(schema) ? lowerTypes(schema) : {} }] : [];
    });
}

/** Google writes the types of its schemas in capitals. */
function lowerTypes(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema), (name, value: unknown) =>
    name === "type" && typeof value === "string" ? value.toLowerCase() : value,
  ) as JsonObject;
}
