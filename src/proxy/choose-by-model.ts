import type { IncomingMessage, ServerResponse } from "node:http";
import type { BudgetRequest } from "../core/budget/running.ts";
import { foreignCharset } from "../core/http/charset.ts";
import type { HeaderIndex } from "../core/http/header-index.ts";
import { RefusalError } from "../core/refusals/refusal.ts";
import type { Aliases } from "../core/policy/aliases.ts";
import type { ModelReader } from "../core/policy/model-reader.ts";
import { comparesBodies, isBudgeted, type ToolPolicy } from "../core/policy/tool-policy.ts";
import { toPrintable } from "../core/text/printable.ts";
import type { Clock } from "../ports.ts";
import type { ClientIdentity } from "./authenticate-client.ts";
import type { Brakes } from "./brakes.ts";
import { chooseUpstream, type Choice } from "./choose-upstream.ts";
import { collectBody } from "./exchange/collect-body.ts";
import { readArrival, type Arrival } from "./exchange/exchange-recorder.ts";
import { tooLarge } from "../core/refusals/limits.ts";
import { ModelGuard } from "./exchange/model-guard.ts";
import { peekModel } from "./exchange/peek-model.ts";
import type { SharedBuffer } from "./exchange/shared-buffer.ts";
import { unreadableModel } from "../core/refusals/models.ts";
import type { ApiRequest } from "./resolve-route.ts";
import type { Destinations, Settings } from "./settings.ts";

/** A request whose upstream, or whether it may leave, depends on the model in its body. */
interface Undecided {
  request: ApiRequest;
  headers: HeaderIndex;
  client: ClientIdentity;
  expectsContinue: boolean;
  destinations: Destinations;
  aliases: Aliases | null;
  policy: ToolPolicy | null;
  settings: Settings;
  buffer: SharedBuffer;
  brakes: Brakes;
  clock: Clock;
}

/** What has been decided for a request. */
export interface Chosen {
  choice: Choice;
  /** The model that the client names; null where nothing depends on it. */
  model: string | null;
  /** The model to request in place of the client's; null to request that. */
  alias: string | null;
  /** Sees to it that the body names no other model; null where the model decides nothing. */
  guard: ModelGuard | null;
  /** When the request arrived; null for just now. */
  arrival: Arrival | null;
  size: ChosenSize;
  /** What tells its body from those of other requests; null where none are compared. */
  fingerprint: string | null;
}

/** What is known of how much a request may spend. */
type ChosenSize = Pick<BudgetRequest, "bytes" | "maxTokens">;

const NO_SIZE: ChosenSize = { bytes: 0, maxTokens: null };

/** What has been decided for a request of which nothing had to be read. */
export function chosenAtOnce(choice: Choice): Chosen {
  return { choice, model: null, alias: null, guard: null, arrival: null, size: NO_SIZE, fingerprint: null };
}

/** Reads the beginning of the body and chooses by its model. Resolves with null when the client has left. @throws RefusalError */
export async function chooseByModel(
  req: IncomingMessage,
  res: ServerResponse,
  undecided: Undecided,
): Promise<Chosen | null> {
  const { request, destinations, aliases, settings, clock } = undecided;
  const arrival = readArrival(clock);
  const reader = await readModel(req, res, undecided);
  if (req.socket.destroyed) return null;
  const model = requireModel(reader);
  const alias = aliases?.get(model) ?? null;
  const choice = chooseUpstream(request, destinations, settings, alias ?? model);
  if ("code" in choice) throw new RefusalError(choice);
  const size = sizeOf(reader, undecided);
  const guard = new ModelGuard(reader, alias);
  return { choice, model, alias, guard, arrival, size, fingerprint: await readFingerprint(req, undecided) };
}

/**
 * Reads a body for the prices of its model, or to compare it with others, where nothing else depends on it: one in which the model
 * cannot be read passes all the same. Resolves with null when the client has left. @throws RefusalError
 */
export async function sizeUp(
  req: IncomingMessage,
  choice: Choice,
  undecided: Undecided,
): Promise<Chosen | null> {
  const { headers, client, policy, expectsContinue, settings, buffer, clock } = undecided;
  const arrival = readArrival(clock);
  const bytes = checkLength(headers, settings) ?? 0;
  const unread = { ...chosenAtOnce(choice), arrival, size: { bytes, maxTokens: null } };
  // A client that waits for `100 Continue` gets it from the upstream's connection.
  if (client.refusal !== null || expectsContinue) return unread;
  const fingerprint = await readFingerprint(req, undecided);
  if (req.socket.destroyed) return null;
  if (!isBudgeted(policy, choice.route) || findUnreadable(headers) !== null)
    return { ...unread, fingerprint };
  const reader = await peekModel(req, settings.limits, buffer, false);
  if (req.socket.destroyed) return null;
  return { ...unread, fingerprint, model: reader.place?.model ?? null, size: sizeOf(reader, undecided) };
}

/** Reads the whole body where it is compared with those of other requests. */
async function readFingerprint(
  req: IncomingMessage,
  { request: { match }, policy, settings, buffer, brakes }: Undecided,
): Promise<string | null> {
  if (!comparesBodies(policy, match.route)) return null;
  const hash = brakes.startFingerprint().update(match.path);
  await collectBody(req, settings.limits, buffer, (chunk) => {
    hash.update(chunk);
    return false;
  });
  return hash.digest("base64");
}

function sizeOf({ bytes, maxTokens }: ModelReader, { headers }: Undecided): ChosenSize {
  return { bytes: Number(headers.get("content-length") ?? bytes), maxTokens };
}

/** Nothing is read of a body that will be refused. */
function readModel(
  req: IncomingMessage,
  res: ServerResponse,
  { headers, client: { refusal }, policy, expectsContinue, settings, buffer }: Undecided,
): Promise<ModelReader> {
  if (refusal !== null) throw new RefusalError(refusal);
  const fault = findUnreadable(headers);
  if (fault !== null) throw new RefusalError(unreadableModel(fault));
  checkLength(headers, settings);
  if (expectsContinue) res.writeContinue();
  return peekModel(req, settings.limits, buffer, policy?.models != null);
}

/** Says why a body cannot be read; null if it may be. */
function findUnreadable(headers: HeaderIndex): string | null {
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding !== "identity") return `the body is compressed (${toPrintable(encoding)})`;
  const charset = foreignCharset(headers.get("content-type") ?? "");
  return charset === null ? null : `the body is not UTF-8 (${toPrintable(charset)})`;
}

function requireModel({ fault, place }: ModelReader): string {
  if (place === null) throw new RefusalError(unreadableModel(fault ?? "the body names no model"));
  return place.model;
}

/** Refuses a body that announces too many bytes. Returns the announced length; null for a chunked body. */
export function checkLength(headers: HeaderIndex, settings: Settings): number | null {
  const length = headers.get("content-length");
  if (length === undefined) return headers.has("transfer-encoding") ? null : 0;
  const limit = settings.limits.bodyBytes;
  if (Number(length) > limit) throw new RefusalError(tooLarge(limit));
  return Number(length);
}
