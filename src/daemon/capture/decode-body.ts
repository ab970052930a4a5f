import { finished } from "node:stream/promises";
import { createDecoder } from "../../proxy/exchange/response-meter.ts";

/** A body that inflates further is not kept whole. */
const DECODED_LIMIT_BYTES = 64 * 1024 * 1024;

/** A decoded body; null if it cannot be decoded. */
interface DecodedBody {
  body: Buffer | null;
  /** Why it is missing or not all of it; null if it is whole. */
  lack: string | null;
}

/** Decodes a body by its `content-encoding`. What cannot be read cannot be searched for credentials either. Never rejects. */
export async function decodeBody(body: Buffer, contentEncoding: string | null): Promise<DecodedBody> {
  const encoding = contentEncoding?.trim().toLowerCase() ?? "";
  if (body.length === 0 || encoding === "" || encoding === "identity") return { body, lack: null };
  const decoder = createDecoder(encoding);
  if (decoder === null) return { body: null, lack: "its encoding is not known" };
  const parts: Buffer[] = [];
  let bytes = 0;
  let lack: string | null = null;
  decoder.on("data", (part: Buffer) => {
    bytes += part.length;
    if (bytes <= DECODED_LIMIT_BYTES) parts.push(part);
    else if (lack === null) {
      lack = "it is too large when decoded";
      decoder.destroy();
    }
  });
  decoder.end(body);
  await finished(decoder).catch(() => (lack ??= "it cannot be decoded to its end"));
  return { body: Buffer.concat(parts), lack };
}
