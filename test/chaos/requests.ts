import { digestOf, type ChaosRoute } from "./responses.ts";
import type { SentRequest } from "./observations.ts";
import { HUGE_HEADER, NONCE_HEADER, STREAM_HEADER } from "./hostile-upstream.ts";
import { IGNORES_CLOSE, type ClientBehaviour } from "./client-behaviours.ts";
import { acrossMagnitudes, between, chance, oneOf, pick, type Random } from "./random.ts";

/** A request, ready to be sent. */
export interface ChaosRequest {
  head: Buffer;
  /** In its framing, divided as it is to be written. */
  body: Buffer[];
  expectsContinue: boolean;
  /** Its entry in the observations. */
  sent: SentRequest;
}

/** What a request is made from. `port` is the one it will be sent to. */
export interface RequestSpec {
  nonce: string;
  port: number;
  behaviour: ClientBehaviour;
  random: Random;
}

/** A placeholder as tools send it. It must not be passed on. */
export const CLIENT_CREDENTIAL = "client-credential-of-no-worth";

/** Sometimes larger than the limit in the configurations. */
const MAX_BODY_BYTES = 5_000_000;

const ROUTES: [weight: number, ChaosRoute][] = [
  [5, "/messages"],
  [5, "/responses"],
  [1, "/messages/count_tokens"],
  [1, "/models"],
];

interface Draft {
  method: string;
  target: string;
  version: string;
  headers: [name: string, value: string][];
}

function setHeader({ headers }: Draft, name: string, value: string): void {
  const at = headers.findIndex(([known]) => known === name);
  headers.splice(at, at === -1 ? 0 : 1, [name, value]);
}

/** The code of a refusal, and how to make a request that must get it. All are refused before anything is recorded. */
const HOSTILE_REQUESTS: [code: string, (draft: Draft) => void][] = [
  ["host_not_allowed", (draft) => setHeader(draft, "host", "evil.example:8655")],
  ["host_not_allowed", (draft) => void draft.headers.push(["host", "127.0.0.1.evil.example"])],
  ["origin_not_allowed", (draft) => setHeader(draft, "origin", "http://evil.example")],
  ["origin_not_allowed", (draft) => setHeader(draft, "origin", "null")],
  ["origin_not_allowed", (draft) => setHeader(draft, "sec-fetch-site", "cross-site")],
  ["browser_not_allowed", (draft) => setHeader(draft, "sec-fetch-dest", "document")],
  ["not_found", (draft) => void (draft.target = "/v1/../admin")],
  ["not_found", (draft) => void (draft.target = "/v1/messages/batches/")],
  ["not_found", (draft) => void (draft.target = "http://evil.example/v1/messages")],
  ["method_not_allowed", (draft) => void ([draft.method, draft.target] = ["PUT", "/v1/messages"])],
  ["content_type", (draft) => setHeader(draft, "content-type", "text/plain")],
  [
    "upgrade_not_supported",
    (draft) => draft.headers.push(["connection", "upgrade"], ["upgrade", "websocket"]),
  ],
];

/** Makes a random request. */
export function createRequest({ nonce, port, behaviour, random }: RequestSpec): ChaosRequest {
  const { isHostile } = behaviour;
  const route = isHostile ? "/messages" : pick(random, ROUTES);
  const isStream = route === "/messages" || route === "/responses" ? chance(random, 0.6) : false;
  // A tool without a mark may use both upstreams, whose lists of models are merged and leave no record.
  const isMarked = route === "/models" || chance(random, 0.3);
  const mark = isMarked ? oneOf(random, ["codex", "claude-code", "my.tool"]) : null;
  const content = route === "/models" ? null : createBody(nonce, isStream, random);
  const isChunked = content !== null && !isHostile && chance(random, 0.3);
  const expectsContinue = content !== null && !isHostile && chance(random, 0.1);
  const draft: Draft = {
    method: content === null ? "GET" : "POST",
    target: `${mark === null ? "" : `/t/${mark}`}${oneOf(random, ["", "/v1"])}${route}`,
    version: "HTTP/1.1",
    headers: [
      ["host", `${oneOf(random, ["127.0.0.1", "localhost"])}:${port}`],
      [NONCE_HEADER, nonce],
      [STREAM_HEADER, isStream ? "1" : "0"],
      ["x-api-key", CLIENT_CREDENTIAL],
      ["authorization", `Bearer ${CLIENT_CREDENTIAL}`],
    ],
  };
  if (behaviour.wantsHugeResponse) draft.headers.push([HUGE_HEADER, "1"]);
  if (content !== null) describeBody(draft, content, { isChunked, expectsContinue });
  const expectedRefusal = isHostile
    ? makeHostile(draft, random)
    : behaviour === IGNORES_CLOSE
      ? "bad_request"
      : null;
  const sent = toSentRequest({ nonce, mark, expectedRefusal }, behaviour, content ?? Buffer.alloc(0));
  const body = content === null ? [] : frame(splitIntoChunks(content, random), isChunked);
  return { head: render(draft), body, expectsContinue, sent };
}

function createBody(nonce: string, isStream: boolean, random: Random): Buffer {
  const padding = "x".repeat(acrossMagnitudes(random, 20, MAX_BODY_BYTES));
  return Buffer.from(JSON.stringify({ model: "chaos-model", stream: isStream, nonce, padding }));
}

function describeBody(
  { headers }: Draft,
  content: Buffer,
  { isChunked, expectsContinue }: { isChunked: boolean; expectsContinue: boolean },
): void {
  headers.push(["content-type", "application/json"]);
  headers.push(isChunked ? ["transfer-encoding", "chunked"] : ["content-length", String(content.length)]);
  if (expectsContinue) headers.push(["expect", "100-continue"]);
}

function makeHostile(draft: Draft, random: Random): string {
  const [code, change] = oneOf(random, HOSTILE_REQUESTS);
  change(draft);
  return code;
}

function toSentRequest(
  known: Pick<SentRequest, "nonce" | "mark" | "expectedRefusal">,
  { name, leaving }: ClientBehaviour,
  content: Buffer,
): SentRequest {
  const body = { bodyBytes: content.length, bodyDigest: digestOf(content) };
  const startedAt = performance.now();
  return {
    ...known,
    ...body,
    behaviour: name,
    isWaiting: leaving === null,
    startedAt,
    isSentCompletely: false,
    endedAt: null,
    response: null,
  };
}

/** Divides a body into one to eight parts. */
function splitIntoChunks(content: Buffer, random: Random): Buffer[] {
  const length = Math.ceil(content.length / between(random, 1, 8));
  const chunks: Buffer[] = [];
  for (let at = 0; at < content.length; at += length) chunks.push(content.subarray(at, at + length));
  return chunks;
}

function frame(parts: Buffer[], isChunked: boolean): Buffer[] {
  if (!isChunked) return parts;
  const chunks = parts.map((part) => {
    return Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]);
  });
  return [...chunks, Buffer.from("0\r\n\r\n")];
}

function render({ method, target, version, headers }: Draft): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${target} ${version}\r\n${lines.join("")}\r\n`);
}
