import type { Mutant } from "./mutant.ts";

const ANSWER = "src/proxy/exchange/upstream-response.ts";
const PASSAGE = "src/proxy/exchange/round-trip.ts";
const DELIVERY = "src/proxy/exchange/response-writer.ts";
const UPLOAD = "src/proxy/exchange/upload.ts";
const CLOCK = "src/proxy/upstream/deadline.ts";

const D1 = { row: "D1", test: "test/faults/d1-client-gone.test.ts" };
const D2 = { row: "D2", test: "test/faults/d2-truncated-answers.test.ts" };
const D3 = { row: "D3", test: "test/faults/d3-no-second-post.test.ts" };
const D3_POOL = { row: "D3", test: "test/proxy/upstream/pool.test.ts" };
const D4 = { row: "D4", test: "test/faults/d4-hanging-upstream.test.ts" };
const D5 = { row: "D5", test: "test/faults/d5-no-buffering.test.ts" };

/** What becomes of one answer: D1 to D5. */
export const ANSWERS: readonly Mutant[] = [
  {
    ...D1,
    without: "an end of the grace",
    file: PASSAGE,
    find: `this.#graceTimer = setTimeout(() => this.#break("client"), graceMs);`,
    replace: "",
  },
  {
    ...D1,
    without: "freeing a half-sent upload at once",
    file: PASSAGE,
    find: "if (!this.#req.complete || graceMs === 0) {",
    replace: "if (graceMs === 0) {",
  },
  {
    ...D1,
    without: "looking after the client of an upload that is held up",
    file: UPLOAD,
    find: "this.#req.pause();\n    this.#lookSoon();",
    replace: "this.#req.pause();",
  },
  {
    ...D1,
    without: "looking soon enough after the client of an upload that is held up",
    file: UPLOAD,
    find: "const LOOK_AFTER_MS = 400;",
    replace: "const LOOK_AFTER_MS = 3000;",
  },
  {
    ...D1,
    without: "a grace that leaves room in the second",
    file: "src/core/config/schema.ts",
    find: "graceMs: milliseconds(0)\n    .default(500)",
    replace: "graceMs: milliseconds(0)\n    .default(1000)",
  },
  {
    ...D1,
    without: "looking after the client when the key has been read",
    file: "src/proxy/gate.ts",
    find: "(cached === null && (await this.#peers.hasLeft(req.socket))) || ",
    replace: "",
  },
  {
    ...D2,
    without: "a difference between an answer's end and its breaking off",
    file: ANSWER,
    find: `incoming.on("error", () => this.#order.onBroken());`,
    replace: `incoming.on("error", () => this.#order.onWhole());`,
  },
  {
    ...D2,
    without: "an abnormal end for the client",
    file: PASSAGE,
    find: "this.#upstream.destroy();\n      this.#res.destroy();",
    replace: "this.#upstream.destroy();\n      this.#res.end();",
  },
  {
    ...D2,
    without: "a look at answers that the end of the connection delimits",
    file: ANSWER,
    find: "const isWhole = whole && !isBrokenUnseen(this.#headers, reading, this.#meter.isOver);",
    replace: "const isWhole = whole;",
  },
  {
    ...D2,
    without: "taking a whole answer for whole, whatever follows it",
    file: PASSAGE,
    find: "      if (this.#answer.isComplete) return;\n",
    replace: "",
  },
  {
    ...D2,
    without: "a look at what came together with a fault",
    file: PASSAGE,
    find: "      this.#answer.goOn();\n      this.#answer.readOn();\n      this.#break",
    replace: "      this.#break",
  },
  {
    ...D2,
    without: "a look for the last event of a stream that nothing delimits",
    file: "src/proxy/exchange/unframed-response.ts",
    find: `flags.includes("bad_json") || !isOver`,
    replace: `flags.includes("bad_json")`,
  },
  {
    ...D2,
    without: "a look at errors and lists of models that nothing delimits",
    file: "src/core/usage/meter.ts",
    find: `if (!isReadable && this.#isJson) reading.flags.push("bad_json");`,
    replace: "",
  },
  {
    ...D3,
    without: "leaving it to the client to try again",
    file: "src/proxy/exchange/forward.ts",
    find: `const open = (method: string, path: string, headers: string[]) =>
    request({`,
    replace: `const open = (method: string, path: string, headers: string[]) =>
    openOnce(method, path, headers).on("error", () => openOnce(method, path, headers).on("error", () => {}).end());
  const openOnce = (method: string, path: string, headers: string[]) =>
    request({`,
  },
  {
    ...D3,
    without: "a word to the client that the request may have been seen",
    file: PASSAGE,
    find: `const connected = this.#clock.phase !== "connecting";`,
    replace: "const connected = false;",
  },
  {
    ...D3_POOL,
    without: "a look at how long a connection was idle",
    file: "src/proxy/upstream/connection.ts",
    find: "return idleMs < this.#limitMs;",
    replace: "return true;",
  },
  {
    ...D3_POOL,
    without: "that look when a connection is lent",
    file: "src/proxy/upstream/pool.ts",
    find: "    this.#dropUnusable();\n    const connection",
    replace: "    const connection",
  },
  {
    ...D4,
    without: "a limit to the first byte",
    file: CLOCK,
    find: `this.#enter("waiting", limits.firstByteMs);`,
    replace: `this.#enter("waiting", 2 ** 31 - 1);`,
  },
  {
    ...D4,
    without: "a limit to what an upstream does not take",
    file: PASSAGE,
    find: `if (!this.#upload.isHeldUp) this.#clock.restart();
        else this.#fail(tooStuck(firstByteMs), "proxy");`,
    replace: "this.#clock.restart();",
  },
  {
    ...D4,
    without: "a difference between the client's pause and the upstream's",
    file: PASSAGE,
    find: "if (!this.#upload.isHeldUp) this.#clock.restart();",
    replace: "if (false) this.#clock.restart();",
  },
  {
    ...D4,
    without: "a limit between bytes",
    file: CLOCK,
    find: `this.#enter("answering", this.#limits.betweenBytesMs);`,
    replace: `this.#enter("answering", 2 ** 31 - 1);`,
  },
  {
    ...D4,
    without: "a timer of our own for the first byte",
    file: CLOCK,
    find: `    upstream.once("finish", () => {`,
    replace: `    upstream.once("socket", (socket) => socket.on("data", () => this.restart()));
    upstream.once("finish", () => {`,
  },
  {
    ...D4,
    without: "a limit to the connection",
    file: CLOCK,
    find: `    this.restart();
    upstream.once("socket", (socket) => {`,
    replace: `    this.#limitMs = 2 ** 31 - 1;
    upstream.once("socket", (socket) => {
      socket.setTimeout(CONNECT_LIMIT_MS, onLate);`,
  },
  {
    ...D4,
    without: "a difference between the upstream's silence and the client's",
    file: PASSAGE,
    find: `if (this.#answer?.isHeldUp === true) this.#clock.restart();
        else this.#break("proxy");`,
    replace: `this.#break("proxy");`,
  },
  {
    ...D5,
    without: "sending the head at once",
    file: DELIVERY,
    find: "if (this.#announcedBytes === null && !this.#isFlushed) this.#res.flushHeaders();",
    replace: "",
  },
  {
    ...D5,
    without: "sending the head of an error of which all that came with it is held back",
    file: DELIVERY,
    find: "      this.flush();\n      return true;",
    replace: "      return true;",
  },
  {
    ...D5,
    without: "passing each piece on",
    file: DELIVERY,
    find: "return this.#res.write(bytes);",
    replace: "this.#hold(bytes);\n    return true;",
  },
  {
    ...D5,
    without: "passing each piece of an upload on",
    file: UPLOAD,
    find: "const goOn = this.#upstream.write(chunk);",
    replace: "this.#upstream.cork();\n    const goOn = this.#upstream.write(chunk);",
  },
];
