import { randomBytes } from "node:crypto";
import { createErrorResponse, digestOf, formatEvent, expectNoUsage } from "./responses.ts";
import type { UpstreamBehaviour } from "./upstream-behaviours.ts";
import type { Call } from "./call.ts";
import { firstEvent } from "./first-event.ts";
import { between, oneOf } from "./random.ts";

/** Longer than the time limits in the configurations. */
const SILENCE_MS = 4_000;

function drawBreak(call: Call): "reset" | "end" {
  return oneOf(call.facts.random, ["reset", "end"] as const);
}

/** Sends nothing until the other side closes the connection, or for at most `ms`. */
async function stall(call: Call, ms: number): Promise<void> {
  const given = between(call.facts.random, 0, ms);
  const timer = setTimeout(() => call.breakConnection(drawBreak(call)), given);
  if (!call.isOver) await firstEvent(call.res, "close");
  clearTimeout(timer);
}

/** Begins a response and sends so little that it does not tell how it ends. */
async function sendHalf(call: Call): Promise<void> {
  const response = call.createResponse();
  call.res.writeHead(200, call.headers(response));
  call.res.flushHeaders();
  const count = between(call.facts.random, 0, Math.floor(response.chunks.length / 2));
  await call.sendChunks(response.chunks.slice(0, count), 20);
}

/** Sends bytes that are not a response, and closes the connection. */
async function sendMalformed(call: Call, bytes: string | Buffer): Promise<void> {
  if (!(await call.readUpload())) return;
  call.writeRaw(bytes);
  await call.pause(30);
  call.breakConnection(drawBreak(call));
}

/** Behaviours of a failing upstream: responses that are truncated, missing or malformed. */
export const FAILING_BEHAVIOURS: Record<string, UpstreamBehaviour> = {
  "silent, then breaks": async (call) => {
    if (await call.readUpload()) await stall(call, SILENCE_MS);
  },

  "breaks during the upload": async (call) => {
    await firstEvent(call.req, "data", "end", "close");
    call.breakConnection(drawBreak(call));
  },

  "breaks within the head": async (call) => {
    await sendMalformed(call, "HTTP/1.1 200 OK\r\ncontent-type: application/js");
  },

  "breaks within the body": async (call) => {
    if (!(await call.readUpload())) return;
    await sendHalf(call);
    call.breakConnection(drawBreak(call));
  },

  "falls silent within the body": async (call) => {
    if (!(await call.readUpload())) return;
    await sendHalf(call);
    await stall(call, SILENCE_MS);
  },

  "fewer bytes than announced": async (call) => {
    if (!(await call.readUpload())) return;
    const response = call.createResponse();
    const length = lengthOf(response.chunks) + between(call.facts.random, 1, 1_000);
    call.writeRaw(call.rawHead("200 OK", call.headers(response, ["content-length", String(length)])));
    for (const chunk of response.chunks) call.writeRaw(chunk);
    call.markSent(response, "truncated");
    call.breakConnection(drawBreak(call));
  },

  "no last chunk": async (call) => {
    if (!(await call.readUpload())) return;
    const response = call.createResponse();
    call.res.writeHead(200, call.headers(response));
    await call.sendChunks(response.chunks);
    call.markSent(response, "truncated");
    call.breakConnection(drawBreak(call));
  },

  // When a reset arrives together with data, libuv reports an end, and HTTP has no other sign of truncation here (RFC 9112
  // section 6.3).
  "a body without length, reset": async (call) => {
    if (!(await call.readUpload())) return;
    const response = call.createResponse();
    call.writeRaw(call.rawHead("200 OK", call.headers(response, ["connection", "close"])));
    for (const chunk of response.chunks) call.writeRaw(chunk);
    call.markSent(response, "either");
    await call.pause(20);
    call.breakConnection("reset");
  },

  "an error among the events": async (call) => {
    if (!(await call.readUpload())) return;
    const good = call.createResponse();
    const { route, isStream } = call.facts;
    if (!isStream) return call.sendResponse(good);
    const type = "overloaded_error";
    const error = formatEvent({ type: "error", error: { type, message: "too much" } });
    const chunks = [...good.chunks.slice(0, 3), error];
    const open = { usage: undefined, tokens: undefined, responseId: undefined };
    const expected = { ...expectNoUsage(route, 200), outcome: "error", errorType: type, ...open } as const;
    await call.sendResponse({ ...good, chunks, expected: { ...expected, digest: digestOf(...chunks) } });
  },

  "no such status": async (call) => {
    const status = oneOf(call.facts.random, ["600 Beyond", "999 Far", "099 Before", "101 Switching"]);
    await sendMalformed(call, `HTTP/1.1 ${status}\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n`);
  },

  garbage: async (call) => {
    const garbage = ["SSH-2.0-OpenSSH_9.2\r\n", "<html>hello</html>", "\r\n\r\n\r\n"];
    await sendMalformed(call, oneOf(call.facts.random, [...garbage, randomBytes(200)]));
  },

  "framed twice": async (call) => {
    const framing = [
      "content-length: 5\r\ntransfer-encoding: chunked",
      "content-length: 5\r\ncontent-length: 6",
    ];
    const head = `HTTP/1.1 200 OK\r\n${oneOf(call.facts.random, framing)}\r\n\r\n`;
    await sendMalformed(call, `${head}5\r\nhello\r\n0\r\n\r\n`);
  },

  "a chunk without size": async (call) => {
    await sendMalformed(
      call,
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfive\r\nhello\r\n0\r\n\r\n",
    );
  },

  redirect: async (call) => {
    if (!(await call.readUpload())) return;
    const response = createErrorResponse(call.facts.route, 307, "elsewhere");
    await call.sendResponse(response, { more: ["location", "http://127.0.0.1:1/v1/messages"] });
  },

  "no body": async (call) => {
    if (!(await call.readUpload())) return;
    const status = oneOf(call.facts.random, [204, 304]);
    call.res.writeHead(status, ["request-id", `req_${call.facts.nonce}`]).end();
    call.markSent({ expected: expectNoUsage(call.facts.route, status) });
  },
};

function lengthOf(chunks: readonly Buffer[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}
