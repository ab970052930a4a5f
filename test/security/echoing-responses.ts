import type { ServerResponse } from "node:http";
import { MESSAGE, MESSAGE_EVENTS, sendJson, SSE } from "../helpers/upstream/scripted-upstream.ts";

/** Responses of an upstream, which knows the credential because it received it. */
export const RESPONSES: Record<string, (res: ServerResponse, key: string) => void> = {
  "a message": (res) => sendJson(res, MESSAGE),
  "a stream": (res) => res.writeHead(200, SSE).end(MESSAGE_EVENTS.join("")),
  "an echo in headers": (res, key) =>
    res.writeHead(200, `OK ${key}`, { "request-id": key, "x-echo": [key, `Bearer ${key}`] }).end("{}"),
  "an echo in early hints and trailers": (res, key) => {
    res.writeEarlyHints({ link: `</${key}>; rel=preload` });
    res.writeHead(200, { trailer: "x-echo" });
    res.addTrailers({ "x-echo": key });
    res.end("{}");
  },
  "an error that contains the key, divided within it": (res, key) => {
    const error = { type: key, code: key, message: `no such key: ${key}` };
    const body = JSON.stringify({ type: "error", error });
    const middle = body.lastIndexOf(key) + 20;
    res.writeHead(401, { "content-type": "application/json", "www-authenticate": `Bearer ${key}` });
    res.write(body.slice(0, middle), () => setImmediate(() => res.end(body.slice(middle))));
  },
  "an error with a length": (res, key) => sendJson(res, { error: { type: key, message: key } }, 529),
  "a redirect": (res, key) => res.writeHead(307, { location: `https://other.example.com/?k=${key}` }).end(),
  "no response": (res) => res.destroy(),
  "a truncated stream": (res) => res.writeHead(200, SSE).write(MESSAGE_EVENTS[0], () => res.destroy()),
  "a malformed response": (res, key) => res.socket?.end(`HTTP/1.1 200 OK\r\nx ${key}: ${key}\r\n\r\n`),
};

/** A successful response with the key in model and ids: it is passed on unchanged, but its record must not contain the key. */
export const ECHO_IN_SUCCESS = (res: ServerResponse, key: string) => {
  const usage = { input_tokens: 1, output_tokens: 1, service_tier: key, [key]: key };
  sendJson(res, { ...MESSAGE, id: key, model: key, stop_reason: key, usage });
};
