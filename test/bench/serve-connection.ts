import type { Socket } from "node:net";
import {
  PACES,
  STREAM_END,
  STREAM_START,
  stampedChunk,
  COMPLETE_RESPONSES,
  isComplete,
  type ResponseName,
  type Pace,
} from "./responses.ts";
import { MODEL_MARK } from "./request.ts";

const CRLF2 = "\r\n\r\n";
/** The head and the model's name are within so many bytes of a request. */
const OPENING_BYTES = 4_096;

/**
 * Responds to the requests on one connection in order. Reads only the length of each and the response that its model names, so that
 * the upstream is far from being the bottleneck.
 */
export function serveConnection(socket: Socket): void {
  /** The bytes of a request whose response is not yet known. */
  let opening: Buffer | null = null;
  /** Bytes of the current body that are still missing. */
  let left = 0;
  let wantedResponse: ResponseName | null = null;

  socket.on("data", (data: Buffer) => {
    if (wantedResponse !== null) {
      takeBody(data);
      return;
    }
    opening = opening === null ? data : Buffer.concat([opening, data]);
    const request = readOpening(opening);
    if (request === null) return;
    wantedResponse = request.response;
    left = request.bodyBytes;
    const body = opening.subarray(request.headBytes);
    opening = null;
    takeBody(body);
  });
  // A client may reset the connection when it is done.
  socket.on("error", () => {});

  function takeBody(chunk: Buffer): void {
    left -= chunk.length;
    if (left > 0 || wantedResponse === null) return;
    const response = wantedResponse;
    wantedResponse = null;
    if (isComplete(response)) socket.write(COMPLETE_RESPONSES[response]);
    else sendPaced(socket, PACES[response]);
  }
}

interface Opening {
  response: ResponseName;
  headBytes: number;
  bodyBytes: number;
}

/** Returns null while the request is incomplete. Throws on any other request, which ends the benchmark. */
function readOpening(bytes: Buffer): Opening | null {
  const text = bytes.toString("latin1", 0, OPENING_BYTES);
  const headEnd = text.indexOf(CRLF2);
  const mark = text.indexOf(MODEL_MARK, headEnd);
  const markEnd = mark + MODEL_MARK.length;
  const nameEnd = text.indexOf('"', markEnd);
  const length = /\r\ncontent-length: *(\d+)\r/i.exec(text)?.[1];
  if (headEnd === -1 || mark === -1 || nameEnd === -1 || length === undefined) {
    if (bytes.length < OPENING_BYTES) return null;
    throw new Error(`not a request of the bench: ${text}`);
  }
  const response = text.slice(markEnd, nameEnd) as ResponseName;
  return { response, headBytes: headEnd + CRLF2.length, bodyBytes: Number(length) };
}

/** Sends the events of a stream one at a time, each with a timestamp. */
function sendPaced(socket: Socket, { events, everyMs }: Pace): void {
  socket.write(STREAM_START);
  let sent = 0;
  const timer = setInterval(() => {
    socket.write(stampedChunk());
    sent += 1;
    if (sent < events) return;
    stop();
    socket.off("close", stop);
    socket.write(STREAM_END);
  }, everyMs);
  const stop = () => clearInterval(timer);
  socket.once("close", stop);
}
