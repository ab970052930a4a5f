import type { IncomingMessage } from "node:http";
import { ModelReader } from "../../core/policy/model-reader.ts";
import { collectBody, type CollectLimits } from "./collect-body.ts";
import type { SharedBuffer } from "./shared-buffer.ts";

/**
 * Reads the start of a JSON body until its `model` is known; some tools write it last. Resolves with the reader as far as it got: it
 * has a model or a fault, or the client has disconnected, or the body ended without a model. Rejects as {@link collectBody} does.
 * @param isOnly as for {@link ModelReader}
 */
export async function peekModel(
  req: IncomingMessage,
  limits: CollectLimits,
  buffer: SharedBuffer,
  isOnly: boolean,
): Promise<ModelReader> {
  const reader = new ModelReader(isOnly);
  await collectBody(req, limits, buffer, (chunk) => {
    reader.feed(chunk);
    return reader.place !== null || reader.fault !== null;
  });
  return reader;
}
