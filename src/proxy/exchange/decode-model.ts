import type { IncomingMessage } from "node:http";
import zlib from "node:zlib";
import type { BodyFacts } from "../../core/decide/decision.ts";
import { ModelReader } from "../../core/policy/model-reader.ts";
import { collectBody, type CollectLimits } from "./read-body.ts";
import type { SharedBuffer } from "./shared-buffer.ts";
import { decodeZstdFrame } from "./zstd-decoder.ts";

/** A gzip member ends with the number of bytes that it decodes to (RFC 1952 section 2.3.1). */
const GZIP_SIZE_BYTES = 4;

/**
 * Reads a whole compressed body, puts it back as it came, and resolves with the model that a decoded copy names. Nothing decoded is kept. The
 * copy may be as long as a body may be; what is longer, or what decoders could read in two ways, is at fault. Rejects as {@link collectBody}
 * does.
 * @param only as for {@link ModelReader}
 */
export async function decodeModel(
  req: IncomingMessage,
  encoding: "zstd" | "gzip",
  limits: CollectLimits,
  buffer: SharedBuffer,
  only: readonly string[] | null,
): Promise<NonNullable<BodyFacts["copy"]>> {
  const chunks: Buffer[] = [];
  await collectBody(req, limits, buffer, (chunk) => {
    chunks.push(chunk);
    return false;
  });
  const body = Buffer.concat(chunks);
  // It is held twice until it has been read: here, and to be sent.
  const heldBytes = 2 * body.length;
  buffer.resize(0, heldBytes);
  try {
    return await readModel(
      encoding === "gzip" ? decodeGzipMember(body) : decodeZstdFrame(body),
      limits,
      only,
    );
  } catch (error) {
    return { model: null, fault: `the compressed body cannot be read: ${(error as Error).message}` };
  } finally {
    buffer.resize(heldBytes, 0);
  }
}

async function readModel(
  decoded: AsyncIterable<Buffer>,
  { bodyBytes }: CollectLimits,
  only: readonly string[] | null,
): Promise<NonNullable<BodyFacts["copy"]>> {
  const reader = new ModelReader(only);
  let bytes = 0;
  for await (const piece of decoded) {
    bytes += piece.length;
    if (bytes > bodyBytes)
      return { model: null, fault: `the body decodes to more than ${bodyBytes} bytes ("limits.bodyBytes")` };
    reader.feed(piece);
    if (reader.fault !== null) break;
  }
  const fault = reader.finish();
  return { model: fault === null ? (reader.place?.model ?? null) : null, fault };
}

/**
 * Decodes exactly one member. Decoders differ in what they make of several, and of bytes after one. Its size tells it from several, unless
 * all but the last are empty, which name no model. @throws Error with a few words for anything else
 */
async function* decodeGzipMember(member: Buffer): AsyncGenerator<Buffer> {
  const decoder = zlib.createGunzip();
  decoder.end(member);
  let bytes = 0;
  for await (const piece of decoder as AsyncIterable<Buffer>) {
    bytes += piece.length;
    yield piece;
  }
  const isOne =
    decoder.bytesWritten === member.length && member.readUInt32LE(member.length - GZIP_SIZE_BYTES) === bytes;
  if (!isOne) throw new Error("it is not one gzip member and nothing else");
}
