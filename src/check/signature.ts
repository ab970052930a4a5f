// Verifies signatures of AWS as its documents say, without the library that made them
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
import { createHash, createHmac } from "node:crypto";
import type { RecordedRequest } from "./recording-upstream.ts";

/** Access keys as the service knows them. */
export interface KnownKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
}

/** Whose signature is expected, for what, and when. */
export interface ExpectedSignature {
  keys: KnownKeys;
  region: string;
  service: string;
  now: number;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([^/,]+)\/([^/,]+)\/aws4_request, SignedHeaders=([a-z\d;-]+), Signature=([\da-f]{64})$/;

/** AWS rejects a signature that differs from its clock by more. */
const MAX_SKEW_MS = 300_000;

/** Returns what is wrong with the signature of a request as it arrived; null if it is right. */
export function findSignatureFault(
  { method, path: target, headers: lines, body }: RecordedRequest,
  { keys, region, service, now }: ExpectedSignature,
): string | null {
  const headers = collect(lines);
  const [, id, date, ofRegion, ofService, list = "", signature] =
    AUTHORIZATION.exec(headers.get("authorization") ?? "") ?? [];
  if (signature === undefined) return "no signature";
  if (id !== keys.accessKeyId) return "another access key";
  if (ofRegion !== region || ofService !== service) return `for ${ofService} in ${ofRegion}`;
  if ((headers.get("x-amz-security-token") ?? null) !== keys.sessionToken) return "another session token";
  const names = list.split(";");
  const unsigned = [...headers.keys()].filter((name) => isToBeSigned(name) && !names.includes(name));
  if (unsigned.length > 0) return `not signed: ${unsigned.join(" ")}`;
  const hash = headers.get("x-amz-content-sha256") ?? sha256(body);
  if (hash !== sha256(body)) return "another body";
  const time = headers.get("x-amz-date") ?? "";
  if (!time.startsWith(`${date}T`) || Math.abs(readTime(time) - now) > MAX_SKEW_MS)
    return `signed at ${time}`;
  const [path = "", query = ""] = target.split("?", 2);
  const canonical = [
    method,
    path.split("/").map(encode).join("/"),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${headers.get(name)?.trim().replaceAll(/ +/g, " ")}`),
    "",
    list,
    hash,
  ].join("\n");
  const scope = `${date}/${region}/${service}/aws4_request`;
  const key = [date ?? "", region, service, "aws4_request"].reduce<string | Buffer>(
    hmac,
    `AWS4${keys.secretAccessKey}`,
  );
  const right = hmac(key, ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n")).toString("hex");
  return signature === right ? null : `the signature does not match:\n${canonical}`;
}

function collect(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const [name, value] = [lines[i]?.toLowerCase() ?? "", lines[i + 1] ?? ""];
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before},${value}`);
  }
  return headers;
}

function isToBeSigned(name: string): boolean {
  return name === "host" || name === "content-type" || name.startsWith("x-amz");
}

function canonicalQuery(query: string): string {
  return [...new URLSearchParams(query)]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join("&");
}

/** All but the unreserved characters of RFC 3986. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** `20150830T123600Z` */
function readTime(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}
