import { digestOf, type ChaosRoute } from "./answers.ts";
import type { Sent } from "./books.ts";
import { NONCE_HEADER, STREAM_HEADER } from "./evil-upstream.ts";
import { DEAF, type Manner } from "./manners.ts";
import { acrossMagnitudes, between, chance, oneOf, pick, type Random } from "./random.ts";

/** One request, ready to be written. */
export interface ChaosRequest {
  head: Buffer;
  /** In its framing, in the pieces to write it in. */
  body: Buffer[];
  expectsContinue: boolean;
  /** Its page in the books. */
  sent: Sent;
}

/** What a request is made from; `port`: the one it will be sent to. */
export interface RequestOrder {
  nonce: string;
  port: number;
  manner: Manner;
  random: Random;
}

/** A placeholder, as tools send it; it must not travel on. */
export const CLIENT_CREDENTIAL = "client-credential-of-no-worth";

/** Bodies larger than what the configurations of the chaos allow come now and then. */
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

/** Refusal that has to come → how to make a request that deserves it. All are refused before anything is recorded. */
const HOSTILE_REQUESTS: [code: string, (draft: Draft) => void][] = [
  ["host_not_allowed", (draft) => setHeader(draft, "host", "evil.example:8655")],
  ["host_not_allowed", (draft) => void draft.headers.push(["host", "127.0.0.1.evil.example"])],
  ["origin_not_allowed", (draft) => setHeader(draft, "origin", "http://evil.example")],
  ["origin_not_allowed", (draft) => setHeader(draft, "origin", "null")],
  ["origin_not_allowed", (draft) => setHeader(draft, "sec-fetch-site", "cross-site")],
  ["not_found", (draft) => void (draft.target = "/v1/../admin")],
  ["not_found", (draft) => void (draft.target = "/v1/messages/batches")],
  ["not_found", (draft) => void (draft.target = "http://evil.example/v1/messages")],
  ["method_not_allowed", (draft) => void ([draft.method, draft.target] = ["PUT", "/v1/messages"])],
  ["content_type", (draft) => setHeader(draft, "content-type", "text/plain")],
  [
    "upgrade_not_supported",
    (draft) => draft.headers.push(["connection", "upgrade"], ["upgrade", "websocket"]),
  ],
];

/** Draws a request. */
export function createRequest({ nonce, port, manner, random }: RequestOrder): ChaosRequest {
  const { isHostile } = manner;
  const route = isHostile ? "/messages" : pick(random, ROUTES);
  const isStream = route === "/messages" || route === "/responses" ? chance(random, 0.6) : false;
  const mark = chance(random, 0.3) ? oneOf(random, ["codex", "claude-code", "my.tool"]) : null;
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
  if (content !== null) describeBody(draft, content, { isChunked, expectsContinue });
  const mustRefuse = isHostile ? spoil(draft, random) : manner === DEAF ? "bad_request" : null;
  const sent = pageOf({ nonce, mark, mustRefuse }, manner, content ?? Buffer.alloc(0));
  const body = content === null ? [] : framed(cut(content, random), isChunked);
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

function spoil(draft: Draft, random: Random): string {
  const [code, change] = oneOf(random, HOSTILE_REQUESTS);
  change(draft);
  return code;
}

function pageOf(
  known: Pick<Sent, "nonce" | "mark" | "mustRefuse">,
  { name, leaving }: Manner,
  content: Buffer,
): Sent {
  const body = { bodyBytes: content.length, bodyDigest: digestOf(content) };
  const startedAt = performance.now();
  return {
    ...known,
    ...body,
    manner: name,
    isStaying: leaving === null,
    startedAt,
    isSentWhole: false,
    endedAt: null,
    answer: null,
  };
}

/** Into one to eight pieces. */
function cut(content: Buffer, random: Random): Buffer[] {
  const length = Math.ceil(content.length / between(random, 1, 8));
  const pieces: Buffer[] = [];
  for (let at = 0; at < content.length; at += length) pieces.push(content.subarray(at, at + length));
  return pieces;
}

function framed(pieces: Buffer[], isChunked: boolean): Buffer[] {
  if (!isChunked) return pieces;
  const chunks = pieces.map((piece) => {
    return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
  });
  return [...chunks, Buffer.from("0\r\n\r\n")];
}

function render({ method, target, version, headers }: Draft): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${target} ${version}\r\n${lines.join("")}\r\n`);
}
