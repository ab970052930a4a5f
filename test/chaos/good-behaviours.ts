import type { Behaviour } from "./behaviours.ts";
import { createError } from "./answers.ts";
import { firstEvent } from "./first-event.ts";
import { acrossMagnitudes, between, oneOf } from "./random.ts";

const ERROR_STATUSES = [400, 403, 404, 413, 429, 500, 503, 529];
const ODD_STATUSES = [201, 206, 299, 418, 451, 599];

/** Answers that end well, by every means that HTTP has for it. */
export const GOOD_BEHAVIOURS: Record<string, Behaviour> = {
  honest: async (call) => {
    if (await call.readUpload()) await call.sendWhole(call.answer());
  },

  slow: async (call) => {
    if (await call.readUpload()) await call.sendWhole(call.answer(), { pauseMs: 40 });
  },

  "huge event": async (call) => {
    const textBytes = acrossMagnitudes(call.facts.random, 500_000, 6_000_000);
    if (await call.readUpload()) await call.sendWhole(call.answer(textBytes));
  },

  "until close": async (call) => {
    if (!(await call.readUpload())) return;
    const answer = call.answer();
    call.writeRaw(call.rawHead("200 OK", call.headers(answer, ["connection", "close"])));
    for (const piece of answer.pieces) call.writeRaw(piece);
    call.tell(answer);
    call.breakOff("end");
  },

  "compressed unasked": async (call) => {
    if (!(await call.readUpload())) return;
    await call.sendWhole(call.compress(call.answer()), { more: ["content-encoding", "gzip"] });
  },

  "flood of 1xx": async (call) => {
    if (!(await call.readUpload())) return;
    for (let i = between(call.facts.random, 5, 200); i > 0; i -= 1) {
      call.writeRaw("HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n");
    }
    await call.sendWhole(call.answer());
  },

  "stalls the upload": async (call) => {
    await call.hesitate(1_000);
    if (await call.readUpload()) await call.sendWhole(call.answer());
  },

  "closes when idle": async (call) => {
    if (!(await call.readUpload())) return;
    const finished = firstEvent(call.res, "close");
    await call.sendWhole(call.answer());
    await finished;
    await call.hesitate(60);
    if (call.facts.isLatest()) call.socket.destroy();
  },

  "answers early": async (call) => {
    await call.sendWhole(call.answer());
  },

  "error status": async (call) => {
    const answer = createError(call.facts.route, oneOf(call.facts.random, ERROR_STATUSES), "no luck");
    if (await call.readUpload()) await call.sendWhole(answer, { more: ["retry-after", "0"] });
  },

  "error status early": async (call) => {
    await call.sendWhole(createError(call.facts.route, 429, "not now"));
  },

  "odd status": async (call) => {
    const status = oneOf(call.facts.random, ODD_STATUSES);
    if (!(await call.readUpload())) return;
    const answer = status < 300 ? call.answer() : createError(call.facts.route, status, "odd");
    await call.sendWhole({ ...answer, truth: { ...answer.truth, status } });
  },
};
