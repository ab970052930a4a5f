import type { UpstreamBehaviour } from "./upstream-behaviours.ts";
import { createErrorResponse } from "./responses.ts";
import { firstEvent } from "./first-event.ts";
import { acrossMagnitudes, between, oneOf } from "./random.ts";

const ERROR_STATUSES = [400, 403, 404, 413, 429, 500, 503, 529];
const ODD_STATUSES = [201, 206, 299, 418, 451, 599];

/** Behaviours of a valid upstream: complete responses in every form that HTTP allows. */
export const VALID_BEHAVIOURS: Record<string, UpstreamBehaviour> = {
  plain: async (call) => {
    if (await call.readUpload()) await call.sendResponse(call.createResponse());
  },

  slow: async (call) => {
    if (await call.readUpload()) await call.sendResponse(call.createResponse(), { pauseMs: 40 });
  },

  "huge event": async (call) => {
    const textBytes = acrossMagnitudes(call.facts.random, 500_000, 6_000_000);
    if (await call.readUpload()) await call.sendResponse(call.createResponse(textBytes));
  },

  "until close": async (call) => {
    if (!(await call.readUpload())) return;
    const response = call.createResponse();
    call.writeRaw(call.rawHead("200 OK", call.headers(response, ["connection", "close"])));
    for (const chunk of response.chunks) call.writeRaw(chunk);
    call.markSent(response);
    call.breakConnection("end");
  },

  "compressed although identity was requested": async (call) => {
    if (!(await call.readUpload())) return;
    await call.sendResponse(call.compress(call.createResponse()), { more: ["content-encoding", "gzip"] });
  },

  "flood of 1xx": async (call) => {
    if (!(await call.readUpload())) return;
    for (let i = between(call.facts.random, 5, 200); i > 0; i -= 1) {
      call.writeRaw("HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n");
    }
    await call.sendResponse(call.createResponse());
  },

  "stalls the upload": async (call) => {
    await call.pause(1_000);
    if (await call.readUpload()) await call.sendResponse(call.createResponse());
  },

  "closes when idle": async (call) => {
    if (!(await call.readUpload())) return;
    const finished = firstEvent(call.res, "close");
    await call.sendResponse(call.createResponse());
    await finished;
    await call.pause(60);
    if (call.facts.isLatest()) call.socket.destroy();
  },

  "responds early": async (call) => {
    await call.sendResponse(call.createResponse());
  },

  "error status": async (call) => {
    const response = createErrorResponse(
      call.facts.route,
      oneOf(call.facts.random, ERROR_STATUSES),
      "no luck",
    );
    if (await call.readUpload()) await call.sendResponse(response, { more: ["retry-after", "0"] });
  },

  "error status early": async (call) => {
    await call.sendResponse(createErrorResponse(call.facts.route, 429, "not now"));
  },

  "odd status": async (call) => {
    const status = oneOf(call.facts.random, ODD_STATUSES);
    if (!(await call.readUpload())) return;
    const response =
      status < 300 ? call.createResponse() : createErrorResponse(call.facts.route, status, "odd");
    await call.sendResponse({ ...response, expected: { ...response.expected, status } });
  },
};
