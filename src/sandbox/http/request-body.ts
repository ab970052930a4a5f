import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { isObject, parseJson, type JsonObject } from "../../core/json.ts";
import { ApiError } from "../errors.ts";

/** Largest request body in bytes, encoded and decoded. */
export const BODY_LIMIT = 64 * 1024 * 1024;

type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ["gzip", promisify(zlib.gunzip) as Decode],
  ["deflate", promisify(zlib.inflate) as Decode],
  ["br", promisify(zlib.brotliDecompress) as Decode],
  // Since Node 22.15.
  ...("zstdDecompress" in zlib
    ? [["zstd", promisify(zlib.zstdDecompress as typeof zlib.gunzip) as Decode] as const]
    : []),
]);

/**
 * Reads a request's body as a JSON object, decoding it first.
 * @throws ApiError 413 beyond {@link BODY_LIMIT}, 415 for an encoding that this Node does not know, 400 for any other fault
 */
export async function readJsonBody(request: IncomingMessage): Promise<JsonObject> {
  if (Number(request.headers["content-length"]) > BODY_LIMIT) throw tooLarge();
  const bytes = await decode(await readBytes(request), request.headers["content-encoding"]);
  const body = parseJson(bytes.toString());
  if (body === undefined) throw new ApiError(400, "the request body is not valid JSON");
  if (!isObject(body)) throw new ApiError(400, "the request body must be a JSON object");
  return body;
}

/** A file of a form. */
interface FormFile {
  filename: string;
  bytes: Buffer;
}

export function isFormFile(value: unknown): value is FormFile {
  return isObject(value) && Buffer.isBuffer(value["bytes"]);
}

/** Reads a form with files (RFC 7578) as an object of its texts and the sizes of its files; any other body as {@link readJsonBody} does. */
export async function readFormOrJson(request: IncomingMessage): Promise<JsonObject> {
  const form = await readUpload(request);
  const sizes = Object.entries(form).map(([name, value]) => [
    name,
    isFormFile(value) ? value.bytes.length : value,
  ]);
  return Object.fromEntries(sizes) as JsonObject;
}

/** As {@link readFormOrJson}, with the files themselves. */
export async function readUpload(request: IncomingMessage): Promise<JsonObject> {
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/form-data")) return readJsonBody(request);
  const bytes = await readBytes(request);
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData();
    const members: JsonObject = {};
    for (const [name, value] of form)
      members[name] =
        typeof value === "string"
          ? value
          : { filename: value.name, bytes: Buffer.from(await value.arrayBuffer()) };
    return members;
  } catch {
    throw new ApiError(400, "the request body is not a valid form");
  }
}

/** Reads a request's body as it is. @throws ApiError 413 beyond {@link BODY_LIMIT} */
export function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      // The rest is read and discarded. A client that is still sending would not see the refusal otherwise.
      if (length > BODY_LIMIT) reject(tooLarge());
      else chunks.push(chunk);
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("error", reject);
  });
}

async function decode(bytes: Buffer, coding: string | undefined): Promise<Buffer> {
  if (coding === undefined || coding === "identity") return bytes;
  const decoder = DECODERS.get(coding.toLowerCase());
  if (decoder === undefined) throw new ApiError(415, `content-encoding ${coding} is not supported`);
  try {
    return await decoder(bytes, { maxOutputLength: BODY_LIMIT });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge();
    throw new ApiError(400, `the request body is not valid ${coding}`);
  }
}

function tooLarge(): ApiError {
  return new ApiError(413, `the request body is larger than ${BODY_LIMIT} bytes`);
}
