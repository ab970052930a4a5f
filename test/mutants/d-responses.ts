import type { Mutant } from "./mutant.ts";

const UPSTREAM_RESPONSE = "src/proxy/exchange/download.ts";
const ROUND_TRIP = "src/proxy/exchange/round-trip.ts";
const UNFRAMED = "src/proxy/exchange/unframed-response.ts";
const STREAMING_WRITER = "src/proxy/exchange/streaming-writer.ts";
const CHAT = "src/core/usage/chat.ts";
const UPLOAD = "src/proxy/exchange/upload.ts";
const DEADLINE = "src/proxy/upstream/deadline.ts";

const D1 = { row: "D1", test: "test/faults/d1-client-gone.test.ts" };
const D1_AT_END = { row: "D1", test: "test/proxy/exchange/client-leaves-at-the-end.test.ts" };
const D2_CHAT = { row: "D2", test: "test/proxy/exchange/unframed-chat.test.ts" };
const D2 = { row: "D2", test: "test/faults/d2-truncated-answers.test.ts" };
const D3 = { row: "D3", test: "test/faults/d3-no-second-post.test.ts" };
const D3_FALLBACK = { row: "D3", test: "test/proxy/fallback.test.ts" };
const D3_POOL = { row: "D3", test: "test/proxy/upstream/pool.test.ts" };
const D4 = { row: "D4", test: "test/faults/d4-hanging-upstream.test.ts" };
const D5 = { row: "D5", test: "test/faults/d5-no-buffering.test.ts" };

/** Rules on the delivery of one response: D1 to D5. */
export const RESPONSES: readonly Mutant[] = [
  {
    ...D1,
    without: "ending the grace period",
    file: "src/proxy/exchange/round-trip.ts",
    find: "if (!this.#hasEnded) this.#graceTimer = setTimeout(() => this.#cut(by), graceMs);",
    replace: "",
  },
  {
    ...D1,
    without: "freeing a half-sent upload at once",
    file: "src/proxy/exchange/round-trip.ts",
    find: "if (!received.req.complete || limits.graceMs === 0) {",
    replace: "if (limits.graceMs === 0) {",
  },
  {
    ...D1,
    without: "checking for the client while its upload is paused",
    file: UPLOAD,
    find: "this.#req.socket.pause();\n    this.#checkClientLater();",
    replace: "this.#req.socket.pause();",
  },
  {
    ...D1,
    without: "checking soon enough for the client while its upload is paused",
    file: UPLOAD,
    find: "const CLIENT_CHECK_MS = 400;",
    replace: "const CLIENT_CHECK_MS = 3000;",
  },
  {
    ...D1,
    without: "a grace period well below one second",
    file: "src/core/config/schema.ts",
    find: "graceMs: milliseconds(0)\n    .default(500)",
    replace: "graceMs: milliseconds(0)\n    .default(1000)",
  },
  {
    ...D1,
    without: "checking for the client after the key has been read",
    file: "src/proxy/gate.ts",
    find: "(hasWaited && (await this.#parts.peers.hasLeft(req.socket))) ||",
    replace: "",
  },
  {
    ...D1_AT_END,
    without: "taking a finish reason for the end when the client leaves there",
    file: CHAT,
    find: "isWhole || hasClientLeft",
    replace: "isWhole",
  },
  {
    ...D1_AT_END,
    without: "recording a client that leaves before the finish reason",
    file: CHAT,
    find: "(mayEnd && this.#hasFinished)",
    replace: "mayEnd",
  },
  {
    ...D2_CHAT,
    without: "requiring proof that interim counts are final in a stream without framing",
    file: "src/core/usage/meter.ts",
    find: " && (isFramed || (this.isFinished && !this.#hasLines))",
    replace: "",
  },
  {
    ...D2,
    without: "distinguishing a truncated response from a complete one",
    file: "src/core/http/response-parser.ts",
    find: "if (this.endsWithConnection) this.isComplete = true;",
    replace: "this.isComplete = true;",
  },
  {
    ...D2,
    without: "ending a truncated response abnormally",
    file: ROUND_TRIP,
    find: "else res.destroy();",
    replace: "else res.end();",
  },
  {
    ...D2,
    without: "checking responses that only the end of the connection delimits",
    file: UPSTREAM_RESPONSE,
    find: "const isWhole = hasEnded && !this.#isSilentlyTruncated(reading);",
    replace: "const isWhole = hasEnded;",
  },
  {
    ...D2,
    without: "treating a complete response as complete whatever follows it",
    file: "src/proxy/upstream/upstream-request.ts",
    find: "if (this.#parser.isComplete) return;\n    if (this.#response",
    replace: "if (this.#response",
  },
  {
    ...D2,
    without: "reading what arrived together with an error",
    file: "src/proxy/exchange/round-trip.ts",
    find: 'response.read();\n      this.#cut("upstream");',
    replace: 'this.#cut("upstream");',
  },
  {
    ...D2,
    without: "requiring the last event of a stream without framing",
    file: UNFRAMED,
    find: `return !isOver || reading.flags.includes("bad_json");`,
    replace: `return reading.flags.includes("bad_json");`,
  },
  {
    ...D2,
    without: "requiring a body where one is due",
    file: UNFRAMED,
    find: "if (isEmpty) return isKnown || head.status === 200;",
    replace: "if (isEmpty) return false;",
  },
  {
    ...D2,
    without: "finding JSON that does not close whatever it is called",
    file: UNFRAMED,
    find: "return !isOver && TEXT.test(type);",
    replace: "return false;",
  },
  {
    ...D2,
    without: "leaving a response without framing where nothing shows its end",
    file: "src/proxy/exchange/response-writer.ts",
    find: "if (head.endsWithConnection) res.useChunkedEncodingByDefault = false;",
    replace: "",
  },
  {
    ...D2,
    without: "resetting the client's connection where an end would be that of the body",
    file: "src/proxy/exchange/round-trip.ts",
    find: "if (this.#download === null || !res.useChunkedEncodingByDefault) resetConnection",
    replace: "if (this.#download === null) resetConnection",
  },
  {
    ...D2,
    without: "requiring close_notify at the end of a TLS connection",
    file: "src/proxy/upstream/dial.ts",
    find: `if (this.#isCut === true) socket.destroy(new Error("the TLS connection ended without close_notify"));`,
    replace: "",
  },
  {
    ...D2,
    without: "distinguishing a reset right behind the last bytes from an end",
    file: "src/proxy/upstream/upstream-request.ts",
    find: "if (this.#parser.endsWithConnection) this.connection.confirmEnd(() => this.#onConfirmedEnd());\n    else this.#onConfirmedEnd();",
    replace: "this.#onConfirmedEnd();",
  },
  {
    ...D2,
    without: "checking JSON responses without framing",
    file: "src/core/usage/meter.ts",
    find: `if (!isReadable && this.#isJson) reading.flags.push("bad_json");`,
    replace: "",
  },
  {
    ...D3,
    without: "showing the client that the connection broke",
    file: "src/proxy/exchange/round-trip.ts",
    find: 'this.#settle({ kind: "cut", by: "upstream", errorType: "upstream_broke" });',
    replace:
      'this.#settle({ kind: "refused", refusal: noUpstream(error, choice.upstream, process.platform), by: "upstream" });',
  },
  {
    ...D3,
    without: "resetting the client's connection",
    file: ROUND_TRIP,
    find: "if (this.#download === null || !res.useChunkedEncodingByDefault) resetConnection(req.socket);\n      else res.destroy();",
    replace: "res.destroy();",
  },
  {
    ...D3,
    without: "leaving retries to the client",
    file: "src/proxy/upstream/pools.ts",
    find: "return this.pool.open(composeRequestHead(method, path, headers), events);",
    replace: `const head = composeRequestHead(method, path, headers);\n    const onFailed = (error: Error) => {\n      this.pool.open(head, events).end();\n      events.onFailed(error);\n    };\n    return this.pool.open(head, { ...events, onFailed });`,
  },
  {
    ...D3,
    without: "telling the client that the upstream may have seen the request",
    file: ROUND_TRIP,
    find: 'if (this.#deadline.phase === "connecting")',
    replace: "if (this.#download === null)",
  },
  {
    ...D3_FALLBACK,
    without: "proof in the status before another upstream is asked",
    file: "src/proxy/exchange/attempts.ts",
    find: "return NOTHING_DONE.has(status) && this.hasNext;",
    replace: "return status >= 400 && this.hasNext;",
  },
  {
    ...D3_FALLBACK,
    without: "proof that nothing was sent before another upstream is asked",
    file: "src/proxy/exchange/round-trip.ts",
    find: 'if (this.#deadline.phase === "connecting")',
    replace: 'if (this.#deadline.phase !== "responding")',
  },
  {
    ...D3_POOL,
    without: "limiting how long a reused connection was idle",
    file: "src/proxy/upstream/connection.ts",
    find: "return idleMs < this.#limitMs;",
    replace: "return true;",
  },
  {
    ...D3_POOL,
    without: "dropping stale connections before reuse",
    file: "src/proxy/upstream/pool.ts",
    find: "if (connection.isUsable()) return connection;\n      connection.close();",
    replace: "return connection;",
  },
  {
    ...D4,
    without: "a time limit for the first byte",
    file: DEADLINE,
    find: `this.#enter("waiting", this.#limits.firstByteMs);`,
    replace: `this.#enter("waiting", 2 ** 31 - 1);`,
  },
  {
    ...D4,
    without: "a time limit for an upstream that does not read",
    file: ROUND_TRIP,
    find: `if (this.#upload.isBlocked) this.#failBroken(tooStuck(upstream, firstByteMs), "proxy");\n        else this.#deadline.restart();`,
    replace: "this.#deadline.restart();",
  },
  {
    ...D4,
    without: "distinguishing the client's pause from the upstream's during an upload",
    file: ROUND_TRIP,
    find: "if (this.#upload.isBlocked)",
    replace: "if (true)",
  },
  {
    ...D4,
    without: "a time limit between bytes",
    file: DEADLINE,
    find: `this.#enter("responding", this.#limits.betweenBytesMs);`,
    replace: `this.#enter("responding", 2 ** 31 - 1);`,
  },
  {
    ...D4,
    without: "a timer for the first byte that other bytes do not restart",
    file: "src/proxy/upstream/upstream-request.ts",
    find: "this.#parser.feed(bytes);",
    replace: "this.#parser.feed(bytes);\n      if (this.#response === null) this.#events.onReady();",
  },
  {
    ...D4,
    without: "a time limit for connecting",
    file: DEADLINE,
    find: "this.#onTimeout = onTimeout;\n    this.restart();",
    replace: "this.#onTimeout = onTimeout;",
  },
  {
    ...D4,
    without: "distinguishing the upstream's silence from the client's during a response",
    file: "src/proxy/exchange/round-trip.ts",
    find: 'if (this.#download === null || this.#download.isBlocked) this.#deadline.restart();\n        else this.#cut("proxy");',
    replace: 'this.#cut("proxy");',
  },
  {
    ...D5,
    without: "sending the response head at once",
    file: STREAMING_WRITER,
    find: "if (this.#announcedBytes === null && !this.#isFlushed) this.#res.flushHeaders();",
    replace: "",
  },
  {
    ...D5,
    without: "passing on each chunk of a response",
    file: STREAMING_WRITER,
    find: "else this.#queue.write(bytes);",
    replace: "else this.#hold(bytes);",
  },
  {
    ...D5,
    without: "passing on each chunk of an upload",
    file: UPLOAD,
    find: "if (passed.length > 0) this.#pass(passed, queue);",
    replace: 'if (passed.length > 0) this.#req.once("end", () => this.#pass(passed, queue));',
  },
];
