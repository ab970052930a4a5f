import { TEST_KEY } from "../../helpers/gate/gate.ts";
import { replacing, type Tamper } from "../tampering-relay.ts";
import type { DefectCase } from "../defective-path.ts";

/** Sends the server another request instead of passing on the response that begins like this. */
function insteadOf(response: string, request: string): Tamper {
  return (text, { server }) => {
    if (!text.startsWith(response)) return text;
    server.write(`${request} HTTP/1.1\r\nhost: hop\r\ncontent-length: 0\r\n\r\n`);
    return null;
  };
}

/** Delays each chunk of a response until the next one arrives; the last one is passed on at once. */
function delayChunks(): Tamper {
  let held = "";
  return (text) => {
    if (!/^[0-9a-f]+\r\n/.test(text)) return text;
    const before = held;
    held = text.endsWith("0\r\n\r\n") ? "" : text;
    return held === "" ? before + text : before;
  };
}

/** Delays the head of a stream until the next chunk arrives. */
function delayHead(): Tamper {
  let held = "";
  return (text) => {
    const all = held + text;
    const isBareHead = all.includes("text/event-stream") && all.indexOf("\r\n\r\n") === all.length - 4;
    held = isBareHead ? all : "";
    return isBareHead ? null : all;
  };
}

/** Defects of responses. */
export const RESPONSE_DEFECTS: readonly DefectCase[] = [
  {
    title: "re-serializes the JSON of responses",
    front: { down: replacing('"z":1.0', '"z":1.1') },
    violates: "response bodies",
    fault: /^JSON: differs from byte/,
  },
  {
    title: "drops content-encoding from a response",
    front: { down: replacing("content-encoding: gzip\r\n", "") },
    violates: "response bodies",
    fault: /^gzip: content-encoding is ""$/,
  },
  {
    title: "changes retry-after",
    front: { down: replacing("retry-after: 7", "retry-after: 60") },
    violates: "errors",
    fault: /^400: retry-after was "7" and became "60"$/,
  },
  {
    title: "turns status 529 into 500",
    front: { down: replacing("HTTP/1.1 529", "HTTP/1.1 500") },
    violates: "errors",
    fault: /^529 became 500$/,
  },
  {
    title: "retries a request after a 429 response",
    back: { down: insteadOf("HTTP/1.1 429", "POST /v1/messages") },
    violates: "errors",
    fault: /^the upstream got a second request: POST \/v1\/messages$/,
  },
  {
    title: "follows a redirect",
    back: { down: insteadOf("HTTP/1.1 307", "POST /elsewhere") },
    violates: "redirects",
    fault: /^the upstream got a second request: POST \/elsewhere$/,
  },
  {
    title: "passes on hop-by-hop headers",
    front: { up: replacing("\r\nproxy-connection:", "\r\nx-kept:") },
    back: { up: replacing("\r\nx-kept:", "\r\nproxy-connection:") },
    violates: "hop-by-hop headers",
    fault: /reached the upstream$/,
  },
  {
    title: "adds a CORS grant for every web page",
    front: {
      down: replacing("HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\naccess-control-allow-origin: *\r\n"),
    },
    violates: "no grants",
    fault: /^access-control-allow-origin was forwarded$/,
  },
  {
    title: "does not redact the key from an error body",
    // Disguised so that the gate does not recognize the key. Of the same length, because the chunk's size is given.
    back: { down: replacing(/4711(?=-do-not-leak"})/, "1174") },
    front: { down: replacing(/1174(?=-do-not-leak"})/, "4711") },
    violates: "key in responses",
    fault: /^it is in the body$/,
  },
  {
    title: "does not redact the key from a header",
    front: { down: replacing(/(?<=x-echo: Bearer )\*+/, TEST_KEY) },
    violates: "key in responses",
    fault: /^it is in the header x-echo$/,
  },
  {
    title: "delays each event until the next one",
    front: { down: delayChunks() },
    violates: "unbuffered",
    timesOut: true,
    fault: /^nothing arrived within/,
  },
  {
    title: "delays the head of a stream until the first event",
    front: { down: delayHead() },
    violates: "early head",
    timesOut: true,
    fault: /^nothing arrived within/,
  },
  {
    title: "does not notice that a client has disconnected",
    front: { hidesDisconnect: true },
    violates: "cancelled",
    timesOut: true,
    fault: /^nothing arrived within/,
  },
];
