import { NOTHING_READ, type BodyFacts, type Need } from "../../core/decide/decision.ts";
import { storedId } from "../../core/decide/choose-upstream.ts";
import type { ModelReader } from "../../core/policy/model-reader.ts";
import { announcedBytes, findDecodable } from "../../core/decide/readable-body.ts";
import { RefusalError } from "../../core/refusals/refusal.ts";
import type { Budgets, Creators } from "../../ports.ts";
import { countReadAhead } from "../client/read-ahead.ts";
import { decodeModel } from "./decode-model.ts";
import type { ClientRequest } from "./exchange.ts";
import { peekModel, readBatch, readFingerprint, readSize, type BodyHash } from "./read-body.ts";
import type { SharedBuffer } from "./shared-buffer.ts";

/** Where that is found which a decision needs. */
export interface Sources {
  budgets: Pick<Budgets, "counting">;
  creators: Pick<Creators, "look">;
  brakes: { startFingerprint(path: string): BodyHash };
  buffer: SharedBuffer;
}

/** {@link BodyFacts}, with the reader itself: it goes on with the rest of the body. */
export interface ReadBody extends BodyFacts {
  reader: ModelReader | null;
}

/** What is asked of a body. */
const OF_BODY: ReadonlySet<Need["what"]> = new Set(["model", "copy", "batch", "fingerprint", "size"]);

/** Before the decision has asked for anything. */
export const NOTHING_LEARNED: ReadBody = { ...NOTHING_READ, reader: null };

/** Finds out what the decision needs, as it asks. Resolves with what is known of the body then, or why it can be read no further. */
export async function learn(
  received: ClientRequest,
  body: ReadBody,
  need: Need,
  sources: Sources,
): Promise<ReadBody> {
  try {
    return await find(received, body, need, sources);
  } catch (error) {
    if (error instanceof RefusalError) return { ...body, refusal: error.refusal };
    throw error;
  }
}

async function find(
  { req, res, request, headers, client, settings: { limits }, expectsContinue }: ClientRequest,
  body: ReadBody,
  need: Need,
  { budgets, creators, brakes, buffer }: Sources,
): Promise<ReadBody> {
  const wait = (known: Promise<void>) => countReadAhead(req, announcedBytes(headers), buffer, known);
  if (need.what === "process") await wait(client.settle());
  if (need.what === "project") await wait(client.peer.whenProjectKnown());
  if (need.what === "spending") await budgets.counting;
  // What is asked of a body, or of an id, is asked of a request with a route.
  if (need.what === "creator" && request.kind !== "refusal")
    await wait(creators.look(storedId(request.match) ?? ""));
  if (!OF_BODY.has(need.what) || request.kind === "refusal") return body;
  if (expectsContinue && body === NOTHING_LEARNED) res.writeContinue();
  if (need.what === "model") return { ...body, reader: await peekModel(req, limits, buffer, need.only) };
  const encoding = findDecodable(headers);
  if (need.what === "copy" && encoding !== null)
    return { ...body, copy: await decodeModel(req, encoding, limits, buffer, need.only) };
  if (need.what === "batch") return { ...body, batch: await readBatch(req, limits, buffer, need.only ?? []) };
  if (need.what === "size") return { ...body, ...(await readSize(req, limits, buffer, body.reader)) };
  const hash = brakes.startFingerprint(request.match.path);
  return { ...body, fingerprint: await readFingerprint(req, limits, buffer, hash) };
}
