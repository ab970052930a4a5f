import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import { clearCredentialCache, SignatureV4 } from "@smithy/signature-v4";
import { getHeaderPolicy } from "../../core/http/header-policy.ts";
import type { AwsKeys } from "../../core/secrets/aws-keys.ts";
import type { Payload } from "./payload.ts";

/** The name of Amazon Bedrock in a signature. Its hosts have another. */
const SERVICE = "bedrock";

/** A request whose head and body are complete. */
interface SignableRequest {
  method: string;
  /** With its query, as it will be sent. */
  path: string;
  /** A flat list. */
  headers: readonly string[];
  payload: Payload;
  region: string;
  /** When it is signed, in milliseconds since 1970. AWS rejects what differs from its own clock by more than 5 minutes. */
  at: number;
}

/**
 * Returns the headers that sign a request to Amazon Bedrock, as a flat list: the date, the hash of the body, the session token and the
 * signature (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). Of the other headers, those
 * are signed that AWS wants signed: the host, the type of the body, and all of AWS's own. A proxy may change the rest.
 */
export async function signRequest(request: SignableRequest, keys: AwsKeys): Promise<string[]> {
  const { method, path, headers, payload, region, at } = request;
  const [pathname = "", query = ""] = path.split("?", 2);
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  const signer = new SignatureV4({
    service: SERVICE,
    region,
    credentials: {
      accessKeyId,
      secretAccessKey: secretAccessKey.reveal(),
      ...(sessionToken !== null && { sessionToken: sessionToken.reveal() }),
    },
    sha256: Sha256,
  });
  const signable = signableHeaders(headers);
  const signed = await signer.sign(
    {
      method,
      protocol: "https:",
      hostname: signable["host"] ?? "",
      path: pathname,
      query: parseQuery(query),
      headers: { ...signable, "x-amz-content-sha256": payload.sha256 },
    },
    { signingDate: new Date(at) },
  );
  return Object.entries(signed.headers)
    .filter(([name]) => !Object.hasOwn(signable, name))
    .flat();
}

/** Drops the keys that the library has derived from access keys: its last 50. */
export function dropSigningKeys(): void {
  clearCredentialCache();
}

function parseQuery(query: string): Record<string, string[]> {
  const parameters = new URLSearchParams(query);
  return Object.fromEntries([...parameters.keys()].map((name) => [name, parameters.getAll(name)]));
}

/** Returns the headers to sign. Lines of the same name are one value. */
function signableHeaders(headers: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const { name } = getHeaderPolicy(headers[i] ?? "");
    if (name !== "host" && name !== "content-type" && !name.startsWith("x-amz")) continue;
    const [before, value = ""] = [found[name], headers[i + 1]];
    found[name] = before === undefined ? value : `${before},${value}`;
  }
  return found;
}

/** SHA-256, and with a key HMAC of it, as the library wants it. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    if (key === undefined) this.#hash = createHash("sha256");
    else this.#hash = createHmac("sha256", typeof key === "string" ? key : toBytes(key));
  }

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  /** Of the library's interface; it begins another hash instead. */
  reset(): void {
    throw new Error("a hash is used once");
  }
}

function toBytes(key: ArrayBuffer | ArrayBufferView): Uint8Array {
  return key instanceof ArrayBuffer
    ? new Uint8Array(key)
    : new Uint8Array(key.buffer, key.byteOffset, key.byteLength);
}
