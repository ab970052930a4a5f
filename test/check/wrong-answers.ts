import { TEST_KEY } from "../helpers/gate/gate.ts";
import { replacing, type Bend } from "./hop.ts";
import type { WrongCase } from "./wrong-path.ts";

/** Asks the server something else in place of passing this answer on. */
function insteadOf(answer: string, request: string): Bend {
  return (text, { server }) => {
    if (!text.startsWith(answer)) return text;
    server.write(`${request} HTTP/1.1\r\nhost: hop\r\ncontent-length: 0\r\n\r\n`);
    return null;
  };
}

/** Passes a chunk of an answer on when the next one has come; the last one brings all with it. */
function oneBehind(): Bend {
  let held = "";
  return (text) => {
    if (!/^[0-9a-f]+\r\n/.test(text)) return text;
    const before = held;
    held = text.endsWith("0\r\n\r\n") ? "" : text;
    return held === "" ? before + text : before;
  };
}

/** Passes the head of a stream on with what comes next. */
function headWithBody(): Bend {
  let held = "";
  return (text) => {
    const all = held + text;
    const isBareHead = all.includes("text/event-stream") && all.indexOf("\r\n\r\n") === all.length - 4;
    held = isBareHead ? all : "";
    return isBareHead ? null : all;
  };
}

/** What can be wrong with an answer by the time that it reaches the client. */
export const WRONG_ANSWERS: readonly WrongCase[] = [
  {
    title: "writes the JSON of answers anew",
    front: { down: replacing('"z":1.0', '"z":1.1') },
    fails: "answer bodies",
    fault: /^JSON: differs from byte/,
  },
  {
    title: "forgets that an answer is compressed",
    front: { down: replacing("content-encoding: gzip\r\n", "") },
    fails: "answer bodies",
    fault: /^gzip: content-encoding is ""$/,
  },
  {
    title: "changes retry-after",
    front: { down: replacing("retry-after: 7", "retry-after: 60") },
    fails: "errors",
    fault: /^400: retry-after was "7" and became "60"$/,
  },
  {
    title: "makes 500 of 529",
    front: { down: replacing("HTTP/1.1 529", "HTTP/1.1 500") },
    fails: "errors",
    fault: /^529 became 500$/,
  },
  {
    title: "sends a request again that was answered 429",
    back: { down: insteadOf("HTTP/1.1 429", "POST /v1/messages") },
    fails: "errors",
    fault: /^the upstream got a second request: POST \/v1\/messages$/,
  },
  {
    title: "follows a redirect",
    back: { down: insteadOf("HTTP/1.1 307", "POST /elsewhere") },
    fails: "redirects",
    fault: /^the upstream got a second request: POST \/elsewhere$/,
  },
  {
    title: "passes headers of one connection on",
    front: { up: replacing("\r\nproxy-connection:", "\r\nx-kept:") },
    back: { up: replacing("\r\nx-kept:", "\r\nproxy-connection:") },
    fails: "hop-by-hop headers",
    fault: /reached the upstream$/,
  },
  {
    title: "grants every web page its answers",
    front: {
      down: replacing("HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\naccess-control-allow-origin: *\r\n"),
    },
    fails: "no grants",
    fault: /^access-control-allow-origin was passed on$/,
  },
  {
    title: "passes the key of an error body on",
    // In disguise the gate does not know it. Of the same length, because it stands in a chunk.
    back: { down: replacing(/4711(?=-do-not-leak"})/, "1174") },
    front: { down: replacing("1174", "4711") },
    fails: "key in answers",
    fault: /^it stands in the body$/,
  },
  {
    title: "passes the key of a header on",
    front: { down: replacing(/(?<=x-echo: Bearer )\*+/, TEST_KEY) },
    fails: "key in answers",
    fault: /^it stands in the header x-echo$/,
  },
  {
    title: "holds each event back until the next one comes",
    front: { down: oneBehind() },
    fails: "unbuffered",
    hangs: true,
    fault: /^nothing came for/,
  },
  {
    title: "holds the head back until the first event comes",
    front: { down: headWithBody() },
    fails: "early head",
    hangs: true,
    fault: /^nothing came for/,
  },
  {
    title: "does not notice that a client has left",
    front: { hidesLeaving: true },
    fails: "cancelled",
    hangs: true,
    fault: /^nothing came for/,
  },
];
