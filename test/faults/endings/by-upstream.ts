import type { ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { startGate, type TestGate } from "../../helpers/gate/gate.ts";
import { sendRaw } from "../../helpers/client/raw-client.ts";
import { startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { sendJson, MESSAGE, MESSAGE_EVENTS, SSE } from "../../helpers/upstream/scripted-upstream.ts";
import {
  COMPLETED,
  cutEarly,
  cutLate,
  ERROR,
  openStream,
  REJECTED,
  START,
  type Ending,
  type Expected,
} from "./ending.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";

const JSON_TYPE = { "content-type": "application/json" };
const ERROR_EVENT = `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"m"}}\n\n`;
const WITHOUT_USAGE: Expected = ["completed", null, "absent", null];

/** Responses that are complete as far as HTTP is concerned. */
const RESPONSES: [what: string, respond: (res: ServerResponse) => void, record: Expected][] = [
  ["a message", (res) => sendJson(res, MESSAGE), COMPLETED],
  ["a stream", (res) => stream(res, MESSAGE_EVENTS.join("")), COMPLETED],
  ["a stream with an error event", (res) => stream(res, START + ERROR_EVENT), ["error", null, "partial", 3]],
  ["a stream without its last event", (res) => stream(res, START), cutLate("upstream")],
  ["a stream without any event", (res) => stream(res, ""), cutEarly("upstream")],
  ["an error", (res) => sendJson(res, { error: { type: "e" } }, 400), ERROR],
  ["an HTML error page", (res) => void res.writeHead(502).end("<html>"), ERROR],
  ["status 401", (res) => sendJson(res, {}, 401), ERROR],
  ["a redirect", (res) => void res.writeHead(307, { location: "/x" }).end(), ERROR],
  ["no content", (res) => void res.writeHead(204).end(), WITHOUT_USAGE],
  ["an HTML page with status 200", (res) => void res.end("<html>"), WITHOUT_USAGE],
  ["a message in gzip", (res) => encoded(res, "gzip"), COMPLETED],
  ["a message in an unknown encoding", (res) => encoded(res, "x"), WITHOUT_USAGE],
  ["a truncated message in gzip", (res) => encoded(res, "gzip", 20), WITHOUT_USAGE],
];

function stream(res: ServerResponse, events: string): void {
  res.writeHead(200, SSE).end(events);
}

function encoded(res: ServerResponse, encoding: string, length?: number): void {
  const body = gzipSync(JSON.stringify(MESSAGE)).subarray(0, length);
  res.writeHead(200, { ...JSON_TYPE, "content-encoding": encoding }).end(body);
}

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const FIRST_CHUNK = `${START.length.toString(16)}\r\n${START}\r\n`;
const SHORT = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"usage":`;

/** What becomes of the connection: it ends, stays open, or stays open until a limit of 50 ms. */
type Then = "end" | "stay" | "limit";

/** Truncated and malformed responses, as bytes. */
const BYTES: [what: string, bytes: string, then: Then, record: Expected][] = [
  ["nothing and closes the connection", "", "end", cutEarly("upstream")],
  ["a truncated head", "HTTP/1.1 200 OK\r\ncont", "end", cutEarly("upstream")],
  ["bytes that are not HTTP", "220 mail.example ESMTP\r\n", "stay", cutEarly("upstream")],
  ["an invalid status", "HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n", "stay", cutEarly("upstream")],
  [
    "an upgrade",
    "HTTP/1.1 101 S\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    "stay",
    cutEarly("upstream"),
  ],
  ["only a head", HEAD, "end", cutEarly("upstream")],
  ["a truncated stream", HEAD + FIRST_CHUNK, "end", cutLate("upstream")],
  ["a malformed chunk", `${HEAD}${FIRST_CHUNK}zz\r\n`, "stay", cutLate("upstream")],
  ["a body shorter than announced", SHORT, "end", cutEarly("upstream")],
  ["nothing", "", "limit", cutEarly("proxy")],
  ["a stream that falls silent", HEAD + FIRST_CHUNK, "limit", cutLate("proxy")],
];

/** Sends a request and waits for its record. */
async function sendRequest(t: TestContext, gate: TestGate): Promise<TestGate> {
  await sendRaw(t, gate.port);
  await gate.ledger.first(1);
  return gate;
}

async function sendBytes(t: TestContext, bytes: string, then: Then): Promise<TestGate> {
  const { baseUrl } = await startTcpUpstream(t, (socket) => {
    socket.once("data", () => (then === "end" ? socket.end(bytes) : socket.write(bytes)));
  });
  const limit = bytes === "" ? { firstByteMs: 50 } : { betweenBytesMs: 50 };
  const limits = { ...defaultConfig.limits, ...(then === "limit" ? limit : {}) };
  return sendRequest(t, await startGate(t, baseUrl, { config: { limits } }));
}

export const BY_UPSTREAM: Ending[] = [
  ...RESPONSES.map(([what, respond, record]): Ending => ({
    what: `the upstream sends ${what}`,
    record,
    async run(t) {
      const { gate } = await startGateWithUpstream(t, (_seen, res) => respond(res));
      return sendRequest(t, gate);
    },
  })),
  ...BYTES.map(([what, bytes, then, record]): Ending => ({
    what: `the upstream sends ${what}`,
    record,
    run: (t) => sendBytes(t, bytes, then),
  })),
  {
    what: "no upstream is listening",
    record: REJECTED,
    async run(t) {
      const { server, baseUrl } = await startTcpUpstream(t, () => {});
      await new Promise((resolve) => server.close(resolve));
      return sendRequest(t, await startGate(t, baseUrl));
    },
  },
  {
    what: "the upstream's host has no address",
    record: REJECTED,
    run: async (t) => sendRequest(t, await startGate(t, "http://no-such-host.invalid/v1")),
  },
  {
    what: "the upstream resets its connections in mid-stream",
    record: cutLate("upstream"),
    async run(t) {
      const { gate, upstream } = await openStream(t);
      for (const socket of upstream.sockets) socket.resetAndDestroy();
      return gate;
    },
  },
];
