import type { Socket } from "node:net";
import {
  PACES,
  STREAM_END,
  STREAM_START,
  stampedChunk,
  WHOLE_ANSWERS,
  type AnswerName,
  type Pace,
} from "./answers.ts";
import { MODEL_MARK } from "./request.ts";

const CRLF2 = "\r\n\r\n";
/** Head and model's name stand within this much of a request. */
const OPENING_BYTES = 4_096;

/**
 * Answers the requests on one connection, one after another. Reads of each no more than its length and the answer that
 * its model names, so that the upstream is far from being the bottleneck.
 */
export function serveConnection(socket: Socket): void {
  /** What has come of a request whose answer is not known yet. */
  let opening: Buffer | null = null;
  /** Bytes of the body at hand that are still to come. */
  let left = 0;
  let wanted: AnswerName | null = null;

  socket.on("data", (data: Buffer) => {
    if (wanted !== null) {
      takeBody(data);
      return;
    }
    opening = opening === null ? data : Buffer.concat([opening, data]);
    const request = readOpening(opening);
    if (request === null) return;
    wanted = request.answer;
    left = request.bodyBytes;
    const body = opening.subarray(request.headBytes);
    opening = null;
    takeBody(body);
  });
  // A client that has what it wanted may break the connection.
  socket.on("error", () => {});

  function takeBody(piece: Buffer): void {
    left -= piece.length;
    if (left > 0 || wanted === null) return;
    const answer = wanted;
    wanted = null;
    if (answer === "stream" || answer === "slow") sendPaced(socket, PACES[answer]);
    else socket.write(WHOLE_ANSWERS[answer]);
  }
}

interface Opening {
  answer: AnswerName;
  headBytes: number;
  bodyBytes: number;
}

/** null: not all of it has come. Throws on what is no request of the bench, which ends the bench. */
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
  const answer = text.slice(markEnd, nameEnd) as AnswerName;
  return { answer, headBytes: headEnd + CRLF2.length, bodyBytes: Number(length) };
}

/** Sends the events of a stream one at a time, each with the time in it. */
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
