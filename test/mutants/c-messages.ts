import type { Mutant } from "./mutant.ts";

const ADMISSION = "src/core/http/admission.ts";
const ANSWER_HEAD = "src/core/http/response-head.ts";
const HEADER_NAME = "src/core/http/header-name.ts";
const PASSAGE = "src/proxy/exchange/round-trip.ts";
const UPLOAD = "src/proxy/exchange/upload.ts";

const C1 = { row: "C1", test: "test/security/c1-request-smuggling.test.ts" };
const C2 = { row: "C2", test: "test/security/c2-duplicate-headers.test.ts" };
const C6 = { row: "C6", test: "test/security/c6-hostile-answers.test.ts" };
const C7 = { row: "C7", test: "test/security/c7-answer-queue.test.ts" };

/** How messages are taken apart: C1, C2, C6 and C7. */
export const MESSAGES: readonly Mutant[] = [
  {
    ...C1,
    without: "the strict parser",
    file: "src/proxy/client/listener.ts",
    find: "insecureHTTPParser: false",
    replace: "insecureHTTPParser: true",
  },
  {
    ...C1,
    without: "chunked as the only encoding",
    file: ADMISSION,
    find: `encoding.toLowerCase() !== "chunked" || headers.has("content-length")`,
    replace: `headers.has("content-length")`,
  },
  {
    ...C1,
    without: "plain lengths",
    file: "src/core/http/content-length.ts",
    find: "/^(?:0|[1-9][0-9]*)$/",
    replace: "/^[0-9]+$/",
  },
  {
    ...C1,
    without: "HTTP/1.1 as the only version",
    file: ADMISSION,
    find: `httpVersion !== "1.1"`,
    replace: `httpVersion < "1.0"`,
  },
  {
    ...C1,
    without: "underscores in framing names",
    file: HEADER_NAME,
    find: `lower.includes("_") ? lower.replaceAll("_", "-") : lower`,
    replace: "lower",
  },
  {
    ...C1,
    without: "an end to Expect here",
    file: HEADER_NAME,
    find: `  "expect",\n`,
    replace: "",
  },
  {
    ...C1,
    without: "GET without a body",
    file: "src/proxy/resolve.ts",
    find: `headers.has("transfer-encoding") || (headers.get("content-length") ?? "0") !== "0"`,
    replace: `headers.has("upgrade-insecure-requests")`,
  },
  {
    ...C1,
    without: "one request at a time on a connection",
    file: "src/proxy/gate.ts",
    find: "    if (isOccupied) throw new Refused(PIPELINED);\n",
    replace: "",
  },
  {
    ...C1,
    without: "giving up an upload that was answered early",
    file: UPLOAD,
    find: "    upstream.destroy();\n    if (req.complete)",
    replace: "    this.#isStopped = false;\n    if (req.complete)",
  },
  {
    ...C1,
    without: "an end to what is sent of an upload that was answered early",
    file: UPLOAD,
    find: "  #send(chunk: Buffer): void {\n    if (this.#isStopped) return;\n",
    replace: "  #send(chunk: Buffer): void {\n",
  },
  {
    ...C1,
    without: "leaving an upload that was cut short without an end",
    file: UPLOAD,
    find: "      if (this.#isStopped) return;\n      this.#stopIdling();",
    replace: "      this.#stopIdling();",
  },
  {
    ...C1,
    without: "closing the connection of an upload that goes on after its answer",
    file: UPLOAD,
    find: "else discardBody(req, () => void (req.complete || req.socket.destroySoon()));",
    replace: "else discardBody(req, () => {});",
  },
  {
    ...C2,
    without: "a look at duplicates",
    file: ADMISSION,
    find: "headers.repeated.find((name) => JUDGED.has(name))",
    replace: 'headers.repeated.find((name) => name === "content-length")',
  },
  {
    ...C2,
    without: "one Host alone",
    file: ADMISSION,
    find: `if (known && !headers.repeated.includes("host")) return null;`,
    replace: "if (known) return null;",
  },
  {
    ...C2,
    without: "one of each mark of a browser",
    file: ADMISSION,
    find: "!foreignReferer && !repeated",
    replace: "!foreignReferer",
  },
  {
    ...C6,
    without: "a range of statuses",
    file: ANSWER_HEAD,
    find: "status < 200 || status > 599",
    replace: "status === 0",
  },
  {
    ...C6,
    without: "chunked as the only encoding",
    file: ANSWER_HEAD,
    find: "encoding !== undefined && (!isChunked ||",
    replace: "encoding !== undefined && (",
  },
  {
    ...C6,
    without: "one transfer-encoding alone",
    file: ANSWER_HEAD,
    find: ` || headers.repeated.includes("transfer-encoding")`,
    replace: "",
  },
  {
    ...C6,
    without: "a plain content-length",
    file: ANSWER_HEAD,
    find: "length !== undefined && !isPlainLength(length)",
    replace: "length === null",
  },
  {
    ...C6,
    without: "HTTP/1 as the only version",
    file: ANSWER_HEAD,
    find: `httpVersion !== "1.1" && httpVersion !== "1.0"`,
    replace: `httpVersion === ""`,
  },
  {
    ...C6,
    without: "ears for an upgrade",
    file: PASSAGE,
    find: `this.#fail(
        { code: "upstream_invalid", message: "the upstream switched protocols unasked" },
        "upstream",
      );`,
    replace: "",
  },
  {
    ...C6,
    without: "a check of the reason",
    file: "src/proxy/exchange/response-writer.ts",
    find: `REASON_PHRASE.test(text) ? text : ""`,
    replace: "text",
  },
  {
    ...C6,
    without: "the strict parser",
    file: "src/proxy/exchange/forward.ts",
    find: "const STRICT = { insecureHTTPParser: false };",
    replace: "const STRICT = { insecureHTTPParser: true };",
  },
  {
    ...C7,
    without: "ears on idle connections",
    file: "src/proxy/upstream/connection.ts",
    find: `socket.on("data", () => this.#onData());`,
    replace: "",
  },
  {
    row: "C7",
    test: "test/proxy/upstream/pool.test.ts",
    without: "ears on connections whose whole answer is still being delivered",
    file: "src/proxy/upstream/connection.ts",
    find: " || this.#answer?.complete === true",
    replace: "",
  },
];
