import type { TestContext } from "node:test";
import { PromptCache, sizeOf } from "./prompt-cache.ts";
import { startUpstream, type SeenRequest } from "./scripted-upstream.ts";

/** A request, as far as the service looks at it. */
interface ResponsesRequest {
  model: string;
  instructions?: unknown;
  tools?: unknown;
  input: unknown;
  prompt_cache_key?: unknown;
  reasoning?: unknown;
  text?: unknown;
  service_tier?: unknown;
  prompt_cache_options?: { comparison_response_id?: string };
}

/** What the service bills for one response. */
export interface BookedResponse {
  id: string;
  seen: SeenRequest;
  read: number;
  uncached: number;
}

interface Options {
  /** Returns why a request missed the cache, where the client has asked for it. */
  diagnose?(booked: BookedResponse): { reason: string; cache_missed_tokens: number } | null;
}

/** An upstream of the Responses API that has a cache and keeps books. */
export interface CachingResponses {
  baseUrl: string;
  books: BookedResponse[];
  cache: PromptCache;
}

/** Starts a Responses API that keeps every prompt in its cache, apart by the settings that its diagnostics name. It ends with the test. */
export async function startCachingResponses(
  t: TestContext,
  { diagnose = () => null }: Options = {},
): Promise<CachingResponses> {
  const books: BookedResponse[] = [];
  const cache = new PromptCache();
  const { baseUrl } = await startUpstream(t, (seen, res) => {
    const asked = JSON.parse(seen.body.toString()) as ResponsesRequest;
    const { model, prompt_cache_key: key, reasoning, text, service_tier: tier } = asked;
    const settings = [model, key, reasoning, text, tier];
    const input = Array.isArray(asked.input) ? (asked.input as unknown[]) : [asked.input];
    const parts = [[settings, asked.tools ?? []], asked.instructions ?? "", ...input].map((value) => {
      const part = JSON.stringify(value);
      return { key: part, tokens: sizeOf(part) };
    });
    // It writes without a charge.
    const { read, written, uncached } = cache.use(parts, parts.length);
    const booked = { id: `resp_${books.length + 1}`, seen, read, uncached: written + uncached };
    books.push(booked);
    const why = asked.prompt_cache_options === undefined ? null : diagnose(booked);
    const body = {
      id: booked.id,
      object: "response",
      created_at: 1_700_000_000,
      model,
      status: "completed",
      output: [],
      usage: {
        input_tokens: booked.read + booked.uncached,
        input_tokens_details: { cached_tokens: booked.read },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: booked.read + booked.uncached + 5,
      },
      ...(why !== null && { prompt_cache_diagnostics: { type: "cache_miss", ...why } }),
    };
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  return { baseUrl, books, cache };
}
