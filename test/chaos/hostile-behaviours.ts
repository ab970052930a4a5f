import { createErrorResponse } from "./responses.ts";
import type { UpstreamBehaviour } from "./upstream-behaviours.ts";
import type { Call } from "./call.ts";
import { between, oneOf } from "./random.ts";

/** Connections that have carried bytes beyond a response. They must not be reused. */
const tainted = new WeakSet<object>();

/** True when the connection has carried bytes beyond a response. */
export function isTainted(socket: object): boolean {
  return tainted.has(socket);
}

const POISON_BODY = `{"id":"msg_chaos-ffffffff-0000000","poison":true}`;
const POISON = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${POISON_BODY.length}\r\n\r\n${POISON_BODY}`;

/** Returns a text with the key, and a position within the key at which to divide it. */
function echoKey(call: Call): [text: string, cut: number] {
  const text = JSON.stringify({
    error: { type: "chaos", code: "chaos", message: `bad key ${call.facts.key}!` },
  });
  return [text, text.indexOf(call.facts.key) + between(call.facts.random, 0, call.facts.key.length)];
}

/** Behaviours of a malicious upstream: surplus responses, and echoes of the key. */
export const HOSTILE_BEHAVIOURS: Record<string, UpstreamBehaviour> = {
  "a second response": async (call) => {
    if (!(await call.readUpload())) return;
    const response = call.createResponse(100);
    const body = Buffer.concat(response.chunks);
    const head = call.rawHead("200 OK", call.headers(response, ["content-length", String(body.length)]));
    tainted.add(call.socket);
    call.markSent(response);
    // In one write: bytes that arrive later could belong to the next request on the connection.
    const extra = oneOf(call.facts.random, [POISON, "extra", "\r\n\r\n\0"]);
    call.writeRaw(Buffer.concat([Buffer.from(head), body, Buffer.from(extra)]));
    await call.pause(300);
    call.breakConnection("reset");
  },

  "echoes the key": async (call) => {
    if (!(await call.readUpload())) return;
    const [text, cut] = echoKey(call);
    const chunks = [Buffer.from(text.slice(0, cut)), Buffer.from(text.slice(cut))];
    const { expected } = createErrorResponse(call.facts.route, 400, "");
    const response = { contentType: "application/json", chunks, expected };
    const more = ["x-key", call.facts.key, "www-authenticate", `Bearer ${call.facts.key}`];
    call.res.statusMessage = `Bad ${call.facts.key}`;
    await call.sendResponse(
      { ...response, expected: { ...expected, errorType: "chaos", digest: undefined } },
      { more, pauseMs: 20 },
    );
  },

  "echoes half of the key and breaks": async (call) => {
    if (!(await call.readUpload())) return;
    const [text, cut] = echoKey(call);
    call.res.writeHead(403, ["content-type", "application/json"]);
    await call.sendChunks([Buffer.from(text.slice(0, cut))]);
    await call.pause(20);
    call.breakConnection(oneOf(call.facts.random, ["reset", "end"] as const));
  },

  "rejects the key": async (call) => {
    if (!(await call.readUpload())) return;
    await call.sendResponse(createErrorResponse(call.facts.route, 401, "invalid key"));
  },
};
