import type { Upstream } from "../../core/config/config.ts";
import { bedrockBasePath } from "../../core/http/bedrock/model-path.ts";
import { listRoutes } from "../../core/http/built-in-routes.ts";
import { buildCredentialHeader } from "../../core/http/credential-headers.ts";
import { UpstreamQuery } from "../../core/http/upstream-query.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { signHeaders } from "../signing.ts";
import { payloadOf } from "../signing/payload.ts";
import type { Dial } from "./dial.ts";
import { commonHeaders, requestOnce, type OwnResponse } from "./single-request.ts";

// Amazon Bedrock has no list of models where models are asked. Whether it accepts a credential shows in what it says of a model that
// does not exist, which costs nothing: who asks is checked first (docs/wire.md section 14).

const PATH = "/model/tollkeeper.key-test/converse";

const BODY = Buffer.from('{"messages":[{"role":"user","content":[{"text":"."}]}]}');

/** The path of a model that does not exist. */
export function unknownModelPath({ basePath }: Pick<Upstream, "basePath">): string {
  return bedrockBasePath(basePath) + PATH;
}

/** Asks a model that does not exist, with an API key or a signature, as the daemon would send it. */
export async function askUnknownModel(
  upstream: Upstream,
  secret: Secret,
  dial: Dial,
  signal: AbortSignal,
): Promise<OwnResponse> {
  const path = unknownModelPath(upstream) + new UpstreamQuery(upstream).compose("");
  const common = [
    ...commonHeaders(upstream.origin),
    "content-type",
    "application/json",
    ...Object.entries(upstream.headers).flat(),
  ];
  const headers = await addCredential(common, path, upstream, secret);
  return requestOnce({ method: "POST", path, headers, body: BODY }, secret, dial, signal);
}

async function addCredential(
  headers: readonly string[],
  path: string,
  upstream: Upstream,
  secret: Secret,
): Promise<string[]> {
  const framed = [...headers, "content-length", String(BODY.length)];
  const route = listRoutes(upstream).find(({ api }) => api === "bedrock");
  if (route === undefined || route.auth === "none") return framed;
  if (route.auth === "sigv4")
    return signHeaders(framed, { upstream, route, path }, secret, payloadOf(BODY), Date.now());
  return [...framed, ...buildCredentialHeader(route.auth, secret)];
}

/** Errors of AWS that come after the check of who asks. */
const AFTER_THE_CHECK = ["ValidationException", "ResourceNotFoundException"];

/** What the service says of an account that it knows, and that may not do what was asked. */
const NOT_ALLOWED = /is not authorized to perform: bedrock:(?!CallWithBearerToken)/;

/** Says what a response to {@link askUnknownModel} says of the credential. */
export function judgeCredential({
  status,
  errorType,
  contentType,
  text,
}: Pick<OwnResponse, "status" | "errorType" | "contentType" | "text">): "accepted" | "refused" | "undecided" {
  const isJson = /json/i.test(contentType);
  // A gateway may give any name to a model of its own.
  if (status >= 200 && status < 300) return isJson ? "accepted" : "undecided";
  if (status === 403 && NOT_ALLOWED.test(text)) return "accepted";
  if (status === 401 || status === 403) return "refused";
  const isKnown = AFTER_THE_CHECK.includes(errorType ?? "") || /model identifier is invalid/.test(text);
  return isKnown && (status === 400 || status === 404) ? "accepted" : "undecided";
}
