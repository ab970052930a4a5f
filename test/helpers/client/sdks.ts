import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { APICallError, generateText, streamText, type LanguageModel } from "ai";
import Anthropic0 from "anthropic-sdk-0";
import OpenAI from "openai";

/** How one request is to be made. */
export interface SdkRequest {
  /** The gate's, without `/v1`. */
  url: string;
  prompt: string;
  headers?: Record<string, string>;
  /** The SDK's own default where it is left out. */
  maxRetries?: number;
}

/** An official SDK, asked in the one way that is common to all. */
export interface Sdk {
  name: string;
  route: "/messages" | "/responses";
  /** Rejects with the SDK's own error. */
  complete(ask: SdkRequest): Promise<unknown>;
  /** The answer's text, piece by piece. */
  stream(ask: SdkRequest, signal: AbortSignal): AsyncIterable<string>;
}

/** What an SDK's error says of the answer behind it. */
export interface SdkError {
  /** Name of the error's class. */
  kind: string;
  status: number | undefined;
  /** What the SDK shows to a person. */
  message: string;
  /** null for a header that did not come. */
  header(name: string): string | null;
}

/** @throws whatever is no error that an SDK makes of an answer */
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

/** Both versions in use. What tests call is the same in both, but TypeScript cannot see that. */
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
  const request = ({ prompt }: SdkRequest) => ({
    model,
    max_tokens: 1000,
    messages: [{ role: "user" as const, content: prompt }],
  });
  return {
    name,
    route: "/messages",
    complete: (ask) => open(ask).messages.create(request(ask)),
    async *stream(ask, signal) {
      const events = await open(ask).messages.create({ ...request(ask), stream: true }, { signal });
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
    complete: (ask) => openOpenai(ask).responses.create({ model, input: ask.prompt }),
    async *stream(ask, signal) {
      const request = { model, input: ask.prompt, stream: true as const };
      for await (const event of await openOpenai(ask).responses.create(request, { signal })) {
        if (event.type === "response.output_text.delta") yield event.delta;
      }
    },
  };
}

function aiSdk(route: Sdk["route"], modelAt: (baseURL: string) => LanguageModel): Sdk {
  const request = ({ url, prompt, headers = {}, maxRetries = 2 }: SdkRequest) => {
    const model = modelAt(`${url}/v1`);
    return { model, prompt, headers, maxRetries };
  };
  return {
    name: `AI SDK on ${route}`,
    route,
    complete: (ask) => generateText(request(ask)),
    stream: (ask, signal) => streamText({ ...request(ask), abortSignal: signal }).textStream,
  };
}
