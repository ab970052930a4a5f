import { createError } from "./answers.ts";
import type { Behaviour } from "./behaviours.ts";
import type { Call } from "./call.ts";
import { between, oneOf } from "./random.ts";

/** Connections that have carried bytes beyond an answer: nothing may be sent into them any more. */
const tainted = new WeakSet<object>();

/** Did this connection carry more than its answer? */
export function isTainted(socket: object): boolean {
  return tainted.has(socket);
}

const POISON_BODY = `{"id":"msg_chaos-ffffffff-0000000","poison":true}`;
const POISON = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${POISON_BODY.length}\r\n\r\n${POISON_BODY}`;

/** The key, split where a border between two pieces falls into it. */
function echoed(call: Call): [text: string, cut: number] {
  const text = JSON.stringify({
    error: { type: "chaos", code: "chaos", message: `bad key ${call.facts.key}!` },
  });
  return [text, text.indexOf(call.facts.key) + between(call.facts.random, 0, call.facts.key.length)];
}

/** What is meant to do harm: another client's answer, our key. */
export const HOSTILE_BEHAVIOURS: Record<string, Behaviour> = {
  "a second answer": async (call) => {
    if (!(await call.readUpload())) return;
    const answer = call.answer(100);
    const body = Buffer.concat(answer.pieces);
    const head = call.rawHead("200 OK", call.headers(answer, ["content-length", String(body.length)]));
    tainted.add(call.socket);
    call.tell(answer);
    // In one write: what comes later may meet a connection that is in use again, and nobody could tell.
    const extra = oneOf(call.facts.random, [POISON, "extra", "\r\n\r\n\0"]);
    call.writeRaw(Buffer.concat([Buffer.from(head), body, Buffer.from(extra)]));
    await call.hesitate(300);
    call.breakOff("reset");
  },

  "echoes the key": async (call) => {
    if (!(await call.readUpload())) return;
    const [text, cut] = echoed(call);
    const pieces = [Buffer.from(text.slice(0, cut)), Buffer.from(text.slice(cut))];
    const { truth } = createError(call.facts.route, 400, "");
    const answer = { contentType: "application/json", pieces, truth };
    const more = ["x-key", call.facts.key, "www-authenticate", `Bearer ${call.facts.key}`];
    call.res.statusMessage = `Bad ${call.facts.key}`;
    await call.sendWhole(
      { ...answer, truth: { ...truth, errorType: "chaos", digest: undefined } },
      { more, pauseMs: 20 },
    );
  },

  "echoes half of the key and breaks": async (call) => {
    if (!(await call.readUpload())) return;
    const [text, cut] = echoed(call);
    call.res.writeHead(403, ["content-type", "application/json"]);
    await call.sendPieces([Buffer.from(text.slice(0, cut))]);
    await call.hesitate(20);
    call.breakOff(oneOf(call.facts.random, ["reset", "end"] as const));
  },

  "does not like the key": async (call) => {
    if (!(await call.readUpload())) return;
    await call.sendWhole(createError(call.facts.route, 401, "invalid key"));
  },
};
