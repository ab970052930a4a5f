import { randomBytes } from "node:crypto";
import { createError, digestOf, eventOf, fruitless } from "./answers.ts";
import type { Behaviour } from "./behaviours.ts";
import type { Call } from "./call.ts";
import { firstEvent } from "./first-event.ts";
import { between, oneOf } from "./random.ts";

/** Long enough for whoever waits to run into a limit of the chaos's own configurations. */
const SILENCE_MS = 4_000;

function anyBreak(call: Call): "reset" | "end" {
  return oneOf(call.facts.random, ["reset", "end"] as const);
}

/** Says nothing until the other side has had enough, or `ms` are over. */
async function keepSilent(call: Call, ms: number): Promise<void> {
  const given = between(call.facts.random, 0, ms);
  const timer = setTimeout(() => call.breakOff(anyBreak(call)), given);
  if (!call.isOver) await firstEvent(call.res, "close");
  clearTimeout(timer);
}

/** Begins an answer and sends no more of it than does not yet say how it ends. */
async function sendHalf(call: Call): Promise<void> {
  const answer = call.answer();
  call.res.writeHead(200, call.headers(answer));
  call.res.flushHeaders();
  const count = between(call.facts.random, 0, Math.floor(answer.pieces.length / 2));
  await call.sendPieces(answer.pieces.slice(0, count), 20);
}

/** Writes bytes that are no answer, and closes. */
async function sayNonsense(call: Call, bytes: string | Buffer): Promise<void> {
  if (!(await call.readUpload())) return;
  call.writeRaw(bytes);
  await call.hesitate(30);
  call.breakOff(anyBreak(call));
}

/** Answers that break, never come, or are none. */
export const BAD_BEHAVIOURS: Record<string, Behaviour> = {
  "silent, then breaks": async (call) => {
    if (await call.readUpload()) await keepSilent(call, SILENCE_MS);
  },

  "breaks during the upload": async (call) => {
    await firstEvent(call.req, "data", "end", "close");
    call.breakOff(anyBreak(call));
  },

  "breaks within the head": async (call) => {
    await sayNonsense(call, "HTTP/1.1 200 OK\r\ncontent-type: application/js");
  },

  "breaks within the body": async (call) => {
    if (!(await call.readUpload())) return;
    await sendHalf(call);
    call.breakOff(anyBreak(call));
  },

  "falls silent within the body": async (call) => {
    if (!(await call.readUpload())) return;
    await sendHalf(call);
    await keepSilent(call, SILENCE_MS);
  },

  "fewer bytes than announced": async (call) => {
    if (!(await call.readUpload())) return;
    const answer = call.answer();
    const length = lengthOf(answer.pieces) + between(call.facts.random, 1, 1_000);
    call.writeRaw(call.rawHead("200 OK", call.headers(answer, ["content-length", String(length)])));
    for (const piece of answer.pieces) call.writeRaw(piece);
    call.tell(answer, "broken");
    call.breakOff(anyBreak(call));
  },

  "no last chunk": async (call) => {
    if (!(await call.readUpload())) return;
    const answer = call.answer();
    call.res.writeHead(200, call.headers(answer));
    await call.sendPieces(answer.pieces);
    call.tell(answer, "broken");
    call.breakOff(anyBreak(call));
  },

  // libuv takes a reset for an end when it waits to be read together with data, and HTTP has no other sign (RFC 9112
  // section 6.3).
  "a body without length, reset": async (call) => {
    if (!(await call.readUpload())) return;
    const answer = call.answer();
    call.writeRaw(call.rawHead("200 OK", call.headers(answer, ["connection", "close"])));
    for (const piece of answer.pieces) call.writeRaw(piece);
    call.tell(answer, "either");
    await call.hesitate(20);
    call.breakOff("reset");
  },

  "an error among the events": async (call) => {
    if (!(await call.readUpload())) return;
    const good = call.answer();
    const { route, isStream } = call.facts;
    if (!isStream) return call.sendWhole(good);
    const type = "overloaded_error";
    const error = eventOf({ type: "error", error: { type, message: "too much" } });
    const pieces = [...good.pieces.slice(0, 3), error];
    const open = { usage: undefined, tokens: undefined, responseId: undefined };
    const truth = { ...fruitless(route, 200), outcome: "error", errorType: type, ...open } as const;
    await call.sendWhole({ ...good, pieces, truth: { ...truth, digest: digestOf(...pieces) } });
  },

  "no such status": async (call) => {
    const status = oneOf(call.facts.random, ["600 Beyond", "999 Far", "099 Before", "101 Switching"]);
    await sayNonsense(call, `HTTP/1.1 ${status}\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n`);
  },

  garbage: async (call) => {
    const garbage = ["SSH-2.0-OpenSSH_9.2\r\n", "<html>hello</html>", "\r\n\r\n\r\n"];
    await sayNonsense(call, oneOf(call.facts.random, [...garbage, randomBytes(200)]));
  },

  "framed twice": async (call) => {
    const framing = [
      "content-length: 5\r\ntransfer-encoding: chunked",
      "content-length: 5\r\ncontent-length: 6",
    ];
    const head = `HTTP/1.1 200 OK\r\n${oneOf(call.facts.random, framing)}\r\n\r\n`;
    await sayNonsense(call, `${head}5\r\nhello\r\n0\r\n\r\n`);
  },

  "a chunk without size": async (call) => {
    await sayNonsense(
      call,
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfive\r\nhello\r\n0\r\n\r\n",
    );
  },

  redirect: async (call) => {
    if (!(await call.readUpload())) return;
    const answer = createError(call.facts.route, 307, "elsewhere");
    await call.sendWhole(answer, { more: ["location", "http://127.0.0.1:1/v1/messages"] });
  },

  "no body": async (call) => {
    if (!(await call.readUpload())) return;
    const status = oneOf(call.facts.random, [204, 304]);
    call.res.writeHead(status, ["request-id", `req_${call.facts.nonce}`]).end();
    call.tell({ truth: fruitless(call.facts.route, status) });
  },
};

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
