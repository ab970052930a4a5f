import type { Mutant } from "./mutant.ts";

const PASSAGE = "src/proxy/passage.ts";
const UPLOAD = "src/proxy/upload.ts";
const METER = "src/proxy/meter.ts";
const CONNECTIONS = "src/proxy/connections.ts";

const D6 = { row: "D6", test: "test/faults/d6-hostile-payloads.test.ts" };
const D7 = { row: "D7", test: "test/faults/d7-nothing-ends-the-daemon.test.ts" };
const D8 = { row: "D8", test: "test/faults/d8-slow-and-flooding.test.ts" };
const D9 = { row: "D9", test: "test/faults/d9-load.test.ts" };

/** What would wear the daemon down: D6 to D9. */
export const FLOODS: readonly Mutant[] = [
  {
    ...D6,
    without: "an end to unfolding",
    file: METER,
    find: "if (this.#decodedBytes > DECODED_LIMIT_BYTES) this.#giveUp();\n    else",
    replace: "",
  },
  {
    ...D6,
    without: "an ear for a decoder's faults",
    file: METER,
    find: `decoder?.on("error", () => this.#giveUp());`,
    replace: "",
  },
  {
    ...D6,
    without: "a look at what a count is",
    file: "src/core/usage/fields.ts",
    find: `const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS;`,
    replace: `const isCount = typeof value === "number";`,
  },
  {
    ...D6,
    without: "a limit to how deep a kept value nests",
    file: "src/core/usage/json-scan.ts",
    find: "if (text === null || this.#hop.deepest > KEPT_DEPTH) return undefined;",
    replace: "if (text === null) return undefined;",
  },
  {
    ...D7,
    without: "an ear for the upstream's errors",
    file: PASSAGE,
    find: `upstream.on("error", (error) => this.#onUpstreamError(error));`,
    replace: "",
  },
  {
    ...D7,
    without: "a look at the status before it is passed on",
    file: "src/core/answer-head.ts",
    find: "status < 200 || status > 599",
    replace: "status > 599",
  },
  {
    ...D7,
    without: "a look at the reason before it is passed on",
    file: "src/proxy/delivery.ts",
    find: `REASON_PHRASE.test(text) ? text : ""`,
    replace: "text",
  },
  {
    ...D8,
    without: "a limit to the head's time",
    file: "src/proxy/listener.ts",
    find: "headersTimeout: headersLimitMs,",
    replace: "headersTimeout: 0,",
  },
  {
    ...D8,
    without: "a limit to the body's silences",
    file: UPLOAD,
    find: "req.setTimeout(order.idleMs, () => this.#onSilence());",
    replace: "",
  },
  {
    ...D8,
    without: "a difference between the client's silence and the upstream's",
    file: UPLOAD,
    find: `if (this.#req.isPaused()) this.#req.setTimeout(this.#order.idleMs);
    else this.#order.onIdle();`,
    replace: "this.#order.onIdle();",
  },
  {
    ...D8,
    without: "back-pressure from the client",
    file: PASSAGE,
    find: "if (!this.#clientGone && this.#delivery?.write(chunk) === false) this.#answer?.pause();",
    replace: "if (!this.#clientGone) this.#delivery?.write(chunk);",
  },
  {
    ...D8,
    without: "back-pressure from the upstream",
    file: UPLOAD,
    find: "this.#req.pause();",
    replace: "",
  },
  {
    ...D8,
    without: "a limit to the body",
    file: UPLOAD,
    find: "if (this.#exchange.bytesIn + chunk.length > this.#order.limitBytes) {",
    replace: "if (chunk.length > this.#order.limitBytes) {",
  },
  {
    ...D8,
    without: "an end to reading what was refused",
    file: "src/proxy/refuse.ts",
    find: "if (drainedBytes > DRAIN_LIMIT_BYTES) stop();",
    replace: "",
  },
  {
    ...D8,
    without: "a cap on connections",
    file: CONNECTIONS,
    find: "if (this.#latest.size >= MAX_CONNECTIONS) (this.#longestIdle() ?? socket).destroy();",
    replace: "",
  },
  {
    ...D8,
    without: "one request at a time",
    file: CONNECTIONS,
    find: "if (isUnderWay(latest) || latest?.shouldKeepAlive === false || socket.writableEnded) return false;",
    replace: "",
  },
  {
    ...D9,
    without: "forgetting what is over",
    file: "src/proxy/forward.ts",
    find: "() => passages.delete(passage)",
    replace: "() => {}",
  },
  {
    ...D9,
    without: "one record for each request",
    file: "src/proxy/exchange.ts",
    find: "id: randomUUID(),",
    replace: "id: randomUUID().slice(0, 0),",
  },
];
