import { readGooglePath } from "../../core/http/gemini/google-path.ts";
import { withoutCollection } from "../../core/http/gemini/model-path.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { ApiRequest, ApiResponse, RouteState } from "../api.ts";
import { ApiError, missingParameter } from "../errors.ts";
import type { StoredInteraction } from "../files/storage.ts";
import { complete } from "../gemini.ts";
import { splitIntoChunks } from "../generation/tokens.ts";
import { makeId } from "../ids.ts";
import { collectTexts, omit, pickObjects, stringOrNull } from "../json.ts";
import { requireModel } from "../models.ts";
import type { BilledTokens } from "../tally.ts";

/** `POST /v1beta/interactions`: one response, a stream, or with `background` one that the first look at it bills. */
export function createInteraction(call: ApiRequest, { promptCache, storage }: RouteState): ApiResponse {
  const { body, key, switches } = call;
  const named = stringOrNull(body["model"]);
  if (named === null) throw missingParameter("model");
  const model = withoutCollection(named);
  requireModel(call, model);
  const contents = [{ role: "user", parts: [{ text: readInput(body["input"]) }] }];
  const config = isObject(body["generation_config"]) ? body["generation_config"] : {};
  const request = { contents, generationConfig: { maxOutputTokens: config["max_output_tokens"] } };
  const { completion, billed } = complete(request, [key.secret, model], call, promptCache);
  const at = new Date().toISOString();
  const about = { id: makeId("v1"), object: "interaction", model, created: at, updated: at };
  const text = completion.text ?? "";
  const object = {
    ...about,
    status: "completed",
    steps: [{ type: "model_output", content: [{ type: "text", text }] }],
    ...(!switches.noUsage && { usage: usageOf(billed) }),
  };
  const isLater = body["background"] === true;
  storage.interactions.keep(about.id, key.name, { object, unbilled: isLater ? billed : null });
  if (isLater) return { body: { ...about, status: "in_progress" } };
  return body["stream"] === true ? { events: streamOf(object, text), billed } : { body: object, billed };
}

/** `GET /v1beta/interactions/{id}`. */
export function fetchInteraction(call: ApiRequest, state: RouteState): ApiResponse {
  const { stored } = findInteraction(call, state);
  const { unbilled } = stored;
  stored.unbilled = null;
  return { body: stored.object, ...(unbilled !== null && { billed: unbilled }) };
}

/** `POST /v1beta/interactions/{id}/cancel`: ends one that runs in the background, which then costs nothing. */
export function cancelInteraction(call: ApiRequest, state: RouteState): ApiResponse {
  const { stored } = findInteraction(call, state);
  if (stored.unbilled !== null) {
    stored.object = { ...omit(stored.object, "usage", "steps"), status: "cancelled" };
    stored.unbilled = null;
  }
  return { body: stored.object };
}

/** `DELETE /v1beta/interactions/{id}`. */
export function deleteInteraction(call: ApiRequest, state: RouteState): ApiResponse {
  state.storage.interactions.remove(findInteraction(call, state).id);
  return { body: {} };
}

function findInteraction({ path, key }: ApiRequest, { storage }: RouteState) {
  const id = readGooglePath(path)?.id ?? "";
  const stored: StoredInteraction | undefined = storage.interactions.find(id, key.name);
  if (stored === undefined) throw new ApiError(404, `Interaction ${id} not found.`);
  return { id, stored };
}

/** The input is a text, a list of contents, or a list of turns. */
function readInput(input: unknown): string {
  const turns = pickObjects(input);
  const texts = turns.flatMap((turn) => collectTexts(turn["content"]));
  return [...collectTexts(input), ...texts].at(-1) ?? "";
}

function usageOf({
  input_uncached: uncached,
  cache_read: cached,
  output,
  reasoning,
}: BilledTokens): JsonObject {
  return {
    total_tokens: uncached + cached + output,
    total_input_tokens: uncached + cached,
    total_cached_tokens: cached,
    total_output_tokens: output - reasoning,
    total_tool_use_tokens: 0,
    total_thought_tokens: reasoning,
  };
}

function streamOf(interaction: JsonObject, text: string): string[] {
  const object = omit(interaction, "steps");
  const begun = omit(object, "usage");
  const events: [string, JsonObject][] = [
    ["interaction.created", { interaction: { ...begun, status: "in_progress" } }],
    ["step.start", { index: 0, step: { type: "model_output" } }],
    ...splitIntoChunks(text).map((piece): [string, JsonObject] => [
      "step.delta",
      { index: 0, delta: { type: "text", text: piece } },
    ]),
    ["step.stop", { index: 0 }],
    ["interaction.completed", { interaction: object }],
  ];
  return events.map(
    ([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ ...data, event_type: type })}\n\n`,
  );
}
