import type { ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { startGate, type TestGate } from "../../helpers/gate/gate.ts";
import { rawClient, rawRequest } from "../../helpers/client/raw-client.ts";
import { startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { answerJson, MESSAGE, MESSAGE_EVENTS, SSE, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
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

const JSON_TYPE = { "content-type": "application/json" };
const ERROR_EVENT = `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"m"}}\n\n`;
const WITHOUT_USAGE: Expected = ["completed", null, "absent", null];

/** Answers that come whole, as far as HTTP is concerned. */
const ANSWERS: [what: string, answer: (res: ServerResponse) => void, record: Expected][] = [
  ["a message", (res) => answerJson(res, MESSAGE), COMPLETED],
  ["a stream", (res) => stream(res, MESSAGE_EVENTS.join("")), COMPLETED],
  ["a stream that fails", (res) => stream(res, START + ERROR_EVENT), ["error", null, "partial", 3]],
  ["a stream that just ends", (res) => stream(res, START), cutLate("upstream")],
  ["a stream without any event", (res) => stream(res, ""), cutEarly("upstream")],
  ["an error", (res) => answerJson(res, { error: { type: "e" } }, 400), ERROR],
  ["an error that is a page", (res) => void res.writeHead(502).end("<html>"), ERROR],
  ["a key that is not accepted", (res) => answerJson(res, {}, 401), ERROR],
  ["a redirect", (res) => void res.writeHead(307, { location: "/x" }).end(), ERROR],
  ["no content", (res) => void res.writeHead(204).end(), WITHOUT_USAGE],
  ["a page in place of an answer", (res) => void res.end("<html>"), WITHOUT_USAGE],
  ["a message in gzip", (res) => encoded(res, "gzip"), COMPLETED],
  ["a message in an encoding that nobody knows", (res) => encoded(res, "x"), WITHOUT_USAGE],
  ["half a message in gzip", (res) => encoded(res, "gzip", 20), WITHOUT_USAGE],
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

/** The connection ends, or stays as it is; `limit`: until a limit of 50 ms. */
type Then = "end" | "stay" | "limit";

/** Answers that break off or are none, as bytes, and what then becomes of the connection. */
const BYTES: [what: string, bytes: string, then: Then, record: Expected][] = [
  ["a connection that ends at once", "", "end", cutEarly("upstream")],
  ["a head that breaks off", "HTTP/1.1 200 OK\r\ncont", "end", cutEarly("upstream")],
  ["something that is not HTTP", "220 mail.example ESMTP\r\n", "stay", cutEarly("upstream")],
  ["a status that is none", "HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n", "stay", cutEarly("upstream")],
  [
    "an upgrade",
    "HTTP/1.1 101 S\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    "stay",
    cutEarly("upstream"),
  ],
  ["a head alone", HEAD, "end", cutEarly("upstream")],
  ["a stream that breaks off", HEAD + FIRST_CHUNK, "end", cutLate("upstream")],
  ["a chunk that is none", `${HEAD}${FIRST_CHUNK}zz\r\n`, "stay", cutLate("upstream")],
  ["a body shorter than announced", SHORT, "end", cutEarly("upstream")],
  ["silence", "", "limit", cutEarly("proxy")],
  ["a stream that falls silent", HEAD + FIRST_CHUNK, "limit", cutLate("proxy")],
];

/** Sends one request and reads what comes until the gate has its record. */
async function ask(t: TestContext, gate: TestGate): Promise<TestGate> {
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  await gate.ledger.first(1);
  return gate;
}

async function playBytes(t: TestContext, bytes: string, then: Then): Promise<TestGate> {
  const { baseUrl } = await startTcpUpstream(t, (socket) => {
    socket.once("data", () => (then === "end" ? socket.end(bytes) : socket.write(bytes)));
  });
  const limit = bytes === "" ? { firstByteMs: 50 } : { betweenBytesMs: 50 };
  const limits = { ...defaultConfig.limits, ...(then === "limit" ? limit : {}) };
  return ask(t, await startGate(t, baseUrl, { config: { limits } }));
}

export const BY_UPSTREAM: Ending[] = [
  ...ANSWERS.map(([what, answer, record]): Ending => ({
    what: `upstream: ${what}`,
    record,
    async play(t) {
      const upstream = await startUpstream(t, (_seen, res) => answer(res));
      return ask(t, await startGate(t, upstream.baseUrl));
    },
  })),
  ...BYTES.map(([what, bytes, then, record]): Ending => ({
    what: `upstream: ${what}`,
    record,
    play: (t) => playBytes(t, bytes, then),
  })),
  {
    what: "upstream: nobody listens",
    record: REJECTED,
    async play(t) {
      const { server, baseUrl } = await startTcpUpstream(t, () => {});
      await new Promise((resolve) => server.close(resolve));
      return ask(t, await startGate(t, baseUrl));
    },
  },
  {
    what: "upstream: a host that has no address",
    record: REJECTED,
    play: async (t) => ask(t, await startGate(t, "http://no-such-host.invalid/v1")),
  },
  {
    what: "upstream: killed in mid-stream, its connections reset",
    record: cutLate("upstream"),
    async play(t) {
      const { gate, upstream } = await openStream(t);
      for (const socket of upstream.sockets) socket.resetAndDestroy();
      return gate;
    },
  },
];
