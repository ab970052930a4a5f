import type { Mutant } from "./mutant.ts";

const UPLOAD = "src/proxy/exchange/upload.ts";
const CONTROL = "src/adapters/control-socket.ts";
const SHARED_BUFFER = "src/proxy/exchange/shared-buffer.ts";
const SEND_QUEUE = "src/proxy/exchange/send-queue.ts";
const CONNECTIONS = "src/proxy/client/connections.ts";

const D8 = { row: "D8", test: "test/faults/d8-slow-and-flooding.test.ts" };
const D8_SHARES = { row: "D8", test: "test/proxy/exchange/shared-buffer.test.ts" };
const D8_QUEUE = { row: "D8", test: "test/proxy/exchange/send-queue.test.ts" };
const D8_KEPT = { row: "D8", test: "test/proxy/exchange/kept-body.test.ts" };
const D8_FALLBACK = { row: "D8", test: "test/proxy/fallback-interrupted.test.ts" };
const D8_RESET = { row: "D8", test: "test/proxy/client/reset-connection.test.ts" };
const D8_POOL = { row: "D8", test: "test/proxy/upstream/pool.test.ts" };
const D8_TAIL = { row: "D8", test: "test/adapters/control-socket.test.ts" };
const D9 = { row: "D9", test: "test/faults/d9-load.test.ts" };

/** Limits on time, size and number: D8 and D9. */
export const FLOODS: readonly Mutant[] = [
  {
    ...D8,
    without: "a time limit for the request head",
    file: "src/proxy/client/listener.ts",
    find: "headersTimeout: headersLimitMs,",
    replace: "headersTimeout: 0,",
  },
  {
    ...D8,
    without: "a time limit for silence in the request body",
    file: UPLOAD,
    find: "this.#idleTimer = setTimeout(() => this.#onIdle(), this.#options.limits.bodyIdleMs);",
    replace: "",
  },
  {
    ...D8,
    without: "distinguishing the client's silence from the upstream's",
    file: "src/proxy/exchange/upload.ts",
    find: 'if (this.#isBlocked) this.#idleTimer?.refresh();\n    else this.#options.onFailed(tooSlow(this.#exchange.limits.bodyIdleMs), "client");',
    replace: 'this.#options.onFailed(tooSlow(this.#exchange.limits.bodyIdleMs), "client");',
  },
  {
    ...D8,
    without: "back-pressure from the client",
    file: "src/proxy/exchange/download.ts",
    find: "if (this.#hasRoom) this.read();",
    replace: "this.read();",
  },
  {
    ...D8,
    without: "a pause as soon as the client does not keep up",
    file: "src/proxy/exchange/download.ts",
    find: "if (this.#isBlocked && this.#options.buffer.isScarce) this.#incoming.pause();\n",
    replace: "",
  },
  {
    ...D8,
    without: "back-pressure from the upstream",
    file: UPLOAD,
    find: "this.#req.socket.pause();\n    this.#checkClientLater();",
    replace: "this.#checkClientLater();",
  },
  {
    ...D8,
    without: "a size limit for the request body",
    file: "src/proxy/exchange/upload.ts",
    find: "if (this.#exchange.bytesIn + chunk.length > bodyBytes) {",
    replace: "if (chunk.length > bodyBytes) {",
  },
  {
    ...D8,
    without: "a size limit for reading the body of a refused request",
    file: "src/proxy/refusals/discard-body.ts",
    find: "if (drainedBytes > DRAIN_LIMIT_BYTES) stop();",
    replace: "",
  },
  {
    ...D8,
    without: "a limit on connections",
    file: CONNECTIONS,
    find: "if (this.#all.size >= this.#most) (this.#longestIdle() ?? socket).destroy();",
    replace: "",
  },
  {
    ...D8,
    without: "refusing a connection when all others are busy",
    file: CONNECTIONS,
    find: "(this.#longestIdle() ?? socket).destroy();",
    replace: "this.#longestIdle()?.destroy();",
  },
  {
    ...D8,
    without: "fewer connections when descriptors are scarce",
    file: CONNECTIONS,
    find: "Math.floor((descriptorLimit - OTHER_DESCRIPTORS) / 2)",
    replace: "MAX_CONNECTIONS",
  },
  {
    ...D8,
    without: "a default time limit for the request head",
    file: "src/proxy/client/listener.ts",
    find: "headersLimitMs = HEADERS_LIMIT_MS",
    replace: "headersLimitMs = 0",
  },
  {
    ...D8,
    without: "a time limit for idle connections",
    file: "src/proxy/client/listener.ts",
    find: "keepAliveTimeout: KEEP_ALIVE_MS,",
    replace: "keepAliveTimeout: 0,",
  },
  {
    ...D8,
    without: "a time limit for reading the body of a refused request",
    file: "src/proxy/refusals/discard-body.ts",
    find: "const timer = setTimeout(stop, DRAIN_LIMIT_MS);",
    replace: "const timer = setTimeout(stop, 2 ** 31 - 1);",
  },
  {
    ...D8,
    without: "closing a connection with pipelined requests",
    file: CONNECTIONS,
    find: "if (connection.pipelined > 0 || isUnsent(latest, socket)) {",
    replace: "if (isUnsent(latest, socket)) {",
  },
  {
    ...D8,
    without: "detecting pipelined requests",
    file: CONNECTIONS,
    find: "if (connection.pipelined > 0 || isUnsent(latest, socket)) {",
    replace: "if (connection.pipelined > 0) {",
  },
  {
    ...D8,
    without: "closing a connection after its last response",
    file: CONNECTIONS,
    find: "if (latest?.shouldKeepAlive === false || socket.writableEnded) return false;",
    replace: "",
  },
  {
    ...D8,
    without: "noticing that a response has not been taken",
    file: CONNECTIONS,
    find: "return res !== null && (isUnderWay(res) || socket.writableLength > 0);",
    replace: "return isUnderWay(res);",
  },
  {
    ...D8,
    without: "disconnecting a client that pipelines without end",
    file: CONNECTIONS,
    find: "if (connection.pipelined > MOST_PIPELINED) socket.destroy();",
    replace: "",
  },
  {
    ...D8,
    without: "one limit over all that waits",
    file: SHARED_BUFFER,
    find: "return bytes <= MOST_BYTES && bytes + READ_BYTES <= (this.#limitBytes - this.#usedBytes) * SHARE;",
    replace: "return bytes <= MOST_BYTES;",
  },
  {
    ...D8_SHARES,
    without: "equal shares of what may wait",
    file: SHARED_BUFFER,
    find: "bytes + READ_BYTES <= (this.#limitBytes - this.#usedBytes) * SHARE",
    replace: "bytes + READ_BYTES <= this.#limitBytes - this.#usedBytes",
  },
  {
    ...D8_SHARES,
    without: "room for a queue that is empty",
    file: SHARED_BUFFER,
    find: "if (bytes === 0) return true;",
    replace: "",
  },
  {
    ...D8_KEPT,
    without: "a limit on the copy of a body",
    file: "src/proxy/exchange/kept-body.ts",
    find: "if (!this.#buffer.mayKeep(this.#bytes, bytes)) {",
    replace: "if (this.#bytes > Infinity) {",
  },
  {
    ...D8_KEPT,
    without: "counting what small pieces of a body cost",
    file: "src/proxy/exchange/kept-body.ts",
    find: "const bytes = chunk.length + CHUNK_OVERHEAD_BYTES;",
    replace: "const bytes = chunk.length;",
  },
  {
    ...D8_FALLBACK,
    without: "freeing the copy of a body when a response begins",
    file: "src/proxy/exchange/round-trip.ts",
    find: "offer?.dropBody();\n    this.#download",
    replace: "this.#download",
  },
  {
    ...D8_RESET,
    without: "closing a connection that cannot be reset",
    file: "src/proxy/client/reset-connection.ts",
    find: "socket.writableEnded || socket.localPort",
    replace: "socket.localPort",
  },
  {
    ...D8_QUEUE,
    without: "counting what small chunks cost",
    file: SEND_QUEUE,
    find: "this.#waitingBytes += chunk.length + CHUNK_OVERHEAD_BYTES;",
    replace: "this.#waitingBytes += chunk.length;",
  },
  {
    ...D8,
    without: "giving back what waited when the client leaves",
    file: SEND_QUEUE,
    find: `this.#destination.once("close", () => this.close());`,
    replace: "",
  },
  {
    ...D8,
    without: "counting a body whose key is being read",
    file: "src/proxy/client/read-ahead.ts",
    find: "if (!mayRead) process.nextTick(() => void (isOver || stopReading(req)));",
    replace: "",
  },
  {
    ...D8,
    without: "a new limit after a reload",
    file: "src/proxy/gate.ts",
    find: "this.#buffer.setLimit(settings.config.limits.bufferBytes);",
    replace: "",
  },
  {
    ...D8_POOL,
    without: "opening only one connection ahead of requests",
    file: "src/proxy/upstream/pool.ts",
    find: "!this.#canPreconnect ||",
    replace: "",
  },
  {
    ...D8_TAIL,
    without: "a limit on the clients of tail",
    file: CONTROL,
    find: "if (clients.size >= MAX_TAIL_CLIENTS) {",
    replace: "if (clients.size < 0) {",
  },
  {
    ...D8_TAIL,
    without: "forgetting a client of tail that has left",
    file: CONTROL,
    find: `res.once("close", () => clients.delete(res));`,
    replace: "",
  },
  {
    ...D8_TAIL,
    without: "a small queue for a client of tail",
    file: CONTROL,
    find: "const MAX_QUEUED_BYTES = 256 * 1024;",
    replace: "const MAX_QUEUED_BYTES = 4096 * 1024;",
  },
  {
    ...D9,
    without: "forgetting finished exchanges",
    file: "src/proxy/exchange/running-exchanges.ts",
    find: "const last = this.#running.pop();",
    replace: "const last = this.#running.at(-1);",
  },
  {
    ...D9,
    without: "writing a single record for each request",
    file: "src/proxy/exchange/record-batch.ts",
    find: "const isFirst = this.#records.push(record) === 1;",
    replace: "const isFirst = this.#records.push(record, record) === 2;",
  },
  {
    ...D9,
    without: "a unique id for each record",
    file: "src/proxy/exchange/exchange.ts",
    find: "return (this.#id ??= randomUUID());",
    replace: "return (this.#id ??= randomUUID().slice(0, 2));",
  },
];
