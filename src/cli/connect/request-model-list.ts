import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { readModelList, type ListedModel } from "../../core/http/model-list.ts";
import { Failure } from "../../core/failure.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { LocalEndpoint } from "../../tools/tool.ts";

/** For each request to the daemon, which asks the upstreams. */
const LIMIT_MS = 10_000;

/** Anthropic's list has pages of 20, or of 1000 at most (https://docs.anthropic.com/en/api/models-list). Others may refuse the parameter. */
const ALL_PAGES = "?limit=1000";

/** The models that the daemon lists. */
export interface ModelList {
  models: ListedModel[];
  /** The upstreams whose models are missing, because they did not answer in time. */
  missing: string[];
}

/** Requests the list of models from the running daemon. Rejects when it does not answer with one. */
export async function requestModelList(endpoint: LocalEndpoint, limitMs = LIMIT_MS): Promise<ModelList> {
  const first = await get(endpoint, "", limitMs);
  const body = parseJson(first.body);
  const hasMore = isObject(body) && body["has_more"] === true;
  const { body: all, missing } = hasMore ? await get(endpoint, ALL_PAGES, limitMs) : first;
  const models = readModelList(all);
  if (models === null) throw new Failure("its response is not a list");
  return { models, missing };
}

async function get(
  { baseUrl, credential }: LocalEndpoint,
  query: string,
  limitMs: number,
): Promise<{ body: string; missing: string[] }> {
  const options = {
    headers: { authorization: `Bearer ${credential}` },
    agent: false,
    signal: AbortSignal.timeout(limitMs),
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${baseUrl}/v1/models${query}`, options, resolve).once("error", reject).end();
  });
  const body = await text(response);
  if (response.statusCode !== 200)
    throw new Failure(`it responded with ${response.statusCode}${messageIn(body)}`);
  const missing = response.headers["x-tollkeeper-missing-upstreams"];
  return { body, missing: typeof missing === "string" ? missing.split(/, */) : [] };
}

/** Returns `: ` and the message of an error in the form that both APIs have, which is also that of our refusals. */
function messageIn(body: string): string {
  const json = parseJson(body);
  const error = isObject(json) ? json["error"] : undefined;
  const message = isObject(error) ? error["message"] : undefined;
  return typeof message === "string" ? `: ${message}` : "";
}
