import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { APICallError, generateText, streamText, type LanguageModel } from "ai";
import Anthropic0 from "anthropic-sdk-0";
import OpenAI from "openai";

/** One request to make with an SDK. */
interface SdkRequest {
  /** The gate's URL, without `/v1`. */
  url: string;
  prompt: string;
  headers?: Record<string, string>;
  /** The SDK's default when left out. */
  maxRetries?: number;
}

/** An official SDK behind one common interface. */
export interface Sdk {
  name: string;
  route: "/messages" | "/responses";
  /** Rejects with the SDK's own error. */
  complete(request: SdkRequest): Promise<unknown>;
  /** Yields the response's text deltas. */
  stream(request: SdkRequest, signal: AbortSignal): AsyncIterable<string>;
}

/** What an SDK's error says about the response that caused it. */
export interface SdkError {
  /** The name of the error's class. */
  kind: string;
  status: number | undefined;
  /** What the SDK shows to the user. */
  message: string;
  /** null when the response did not have the header. */
  header(name: string): string | null;
}

/** Throws `error` again when no SDK made it from a response. */
export function readSdkError(error: unknown): SdkError {
  if (APICallError.isInstance(error)) {
    const { statusCode: status, message, responseHeaders } = error;
    return { kind: "APICallError", status, message, header: (name) => responseHeaders?.[name] ?? null };
  }
  for (const { APIError } of [Anthropic, Anthropic0, OpenAI]) {
    if (!(error instanceof APIError)) continue;
    const { status, message, headers } = error as InstanceType<typeof OpenAI.APIError>;
    const kind = error.constructor.name;
    return { kind, status, message, header: (name) => headers?.get(name) ?? null };
  }
  throw error;
}

/** Both major versions in use. The methods tests call are the same in both, but TypeScript cannot see that. */
export const ANTHROPIC_SDKS = [
  { name: "@anthropic-ai/sdk 1.x", Client: Anthropic },
  { name: "@anthropic-ai/sdk 0.x", Client: Anthropic0 as unknown as typeof Anthropic },
];

export const SDKS: readonly Sdk[] = [
  ...ANTHROPIC_SDKS.map(anthropicSdk),
  openaiSdk(),
  aiSdk("/messages", (baseURL) => createAnthropic({ baseURL, apiKey: "placeholder" })("claude-sonnet-5")),
  aiSdk("/responses", (baseURL) => createOpenAI({ baseURL, apiKey: "placeholder" })("gpt-5")),
];

function anthropicSdk({ name, Client }: { name: string; Client: typeof Anthropic }): Sdk {
  const open = ({ url, headers = {}, maxRetries = 2 }: SdkRequest) =>
    new Client({ baseURL: url, apiKey: "placeholder", defaultHeaders: headers, maxRetries });
  const model = "claude-sonnet-5";
  const toParams = ({ prompt }: SdkRequest) => ({
    model,
    max_tokens: 1000,
    messages: [{ role: "user" as const, content: prompt }],
  });
  return {
    name,
    route: "/messages",
    complete: (request) => open(request).messages.create(toParams(request)),
    async *stream(request, signal) {
      const events = await open(request).messages.create({ ...toParams(request), stream: true }, { signal });
      for await (const event of events) {
        if (event.type === "content_block_delta" && event.delta.type === "text_delta") yield event.delta.text;
      }
    },
  };
}

function openOpenai({ url, headers = {}, maxRetries = 2 }: SdkRequest): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "placeholder", defaultHeaders: headers, maxRetries });
}

function openaiSdk(): Sdk {
  const model = "gpt-5";
  return {
    name: "openai",
    route: "/responses",
    complete: (request) => openOpenai(request).responses.create({ model, input: request.prompt }),
    async *stream(request, signal) {
      const params = { model, input: request.prompt, stream: true as const };
      for await (const event of await openOpenai(request).responses.create(params, { signal })) {
        if (event.type === "response.output_text.delta") yield event.delta;
      }
    },
  };
}

function aiSdk(route: Sdk["route"], modelAt: (baseURL: string) => LanguageModel): Sdk {
  const toParams = ({ url, prompt, headers = {}, maxRetries = 2 }: SdkRequest) => {
    const model = modelAt(`${url}/v1`);
    return { model, prompt, headers, maxRetries };
  };
  return {
    name: `AI SDK on ${route}`,
    route,
    complete: (request) => generateText(toParams(request)),
    stream: (request, signal) => streamText({ ...toParams(request), abortSignal: signal }).textStream,
  };
}
