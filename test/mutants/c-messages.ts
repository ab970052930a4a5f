import type { Mutant } from "./mutant.ts";

const ADMISSION = "src/core/http/admission.ts";
const FRAMING = "src/core/http/framing.ts";
const HEADER_POLICY = "src/core/http/header-policy.ts";
const UPLOAD = "src/proxy/exchange/upload.ts";

const C1 = { row: "C1", test: "test/security/c1-request-smuggling.test.ts" };
const C2 = { row: "C2", test: "test/security/c2-duplicate-headers.test.ts" };
const PARSER = "src/core/http/response-parser.ts";
const C6_PARSER = { row: "C6", test: "test/core/http/response-parser.test.ts" };
const C6 = { row: "C6", test: "test/security/c6-hostile-answers.test.ts" };
const C7 = { row: "C7", test: "test/security/c7-answer-queue.test.ts" };

/** Rules on where messages begin and end: C1, C2, C6 and C7. */
export const MESSAGES: readonly Mutant[] = [
  {
    ...C1,
    without: "strict parsing",
    file: "src/proxy/client/listener.ts",
    find: "insecureHTTPParser: false",
    replace: "insecureHTTPParser: true",
  },
  {
    ...C1,
    without: "accepting no transfer encoding but chunked",
    file: ADMISSION,
    find: `encoding.toLowerCase() !== "chunked" || headers.has("content-length")`,
    replace: `headers.has("content-length")`,
  },
  {
    ...C1,
    without: "accepting only plain decimal lengths",
    file: FRAMING,
    find: "/^(?:0|[1-9][0-9]*)$/",
    replace: "/^[0-9]+$/",
  },
  {
    ...C1,
    without: "accepting no version but HTTP/1.1",
    file: ADMISSION,
    find: `httpVersion !== "1.1"`,
    replace: `httpVersion < "1.0"`,
  },
  {
    ...C1,
    without: "treating underscores as dashes in framing headers",
    file: HEADER_POLICY,
    find: "const dashed = foldName(name);",
    replace: "const dashed = name;",
  },
  {
    ...C1,
    without: "removing Expect",
    file: HEADER_POLICY,
    find: `"expect",`,
    replace: "",
  },
  {
    ...C1,
    without: "refusing a GET with a body",
    file: "src/core/http/admission.ts",
    find: `headers.has("transfer-encoding") || (headers.get("content-length") ?? "0") !== "0"`,
    replace: `headers.has("upgrade-insecure-requests")`,
  },
  {
    ...C1,
    without: "refusing pipelined requests",
    file: "src/proxy/gate.ts",
    find: "if (!isFree) throw new RefusalError(PIPELINED);",
    replace: "",
  },
  {
    ...C1,
    without: "abandoning an upload after an early response",
    file: UPLOAD,
    find: "upstream.destroy();\n    if (req.complete)",
    replace: "this.#isStopped = false;\n    if (req.complete)",
  },
  {
    ...C1,
    without: "stopping an upload after an early response",
    file: UPLOAD,
    find: "this.#isStopped = true;\n    if (this.#queue !== null) this.#leaveRest(this.#queue);",
    replace: "",
  },
  {
    ...C1,
    without: "closing the connection when the client keeps sending after the response",
    file: UPLOAD,
    find: "else discardBody(req, () => void (req.complete || req.socket.destroySoon()));",
    replace: "else discardBody(req, () => {});",
  },
  {
    ...C2,
    without: "refusing repeated headers",
    file: ADMISSION,
    find: "headers.repeated.find((name) => SINGLE_HEADERS.has(name))",
    replace: `headers.repeated.find((name) => name === "content-length")`,
  },
  {
    ...C2,
    without: "refusing a second Host",
    file: ADMISSION,
    find: `if (isAllowed && !headers.repeated.includes("host")) return null;`,
    replace: "if (isAllowed) return null;",
  },
  {
    ...C2,
    without: "refusing a repeated browser header",
    file: ADMISSION,
    find: "!hasForeignReferer && !isRepeated",
    replace: "!hasForeignReferer",
  },
  {
    ...C6,
    without: "limiting the status to 200 to 599",
    file: FRAMING,
    find: "status < 100 || status > 599",
    replace: "status === 0",
  },
  {
    ...C6_PARSER,
    without: "refusing a status below 100",
    file: FRAMING,
    find: "status < 100 || status > 599",
    replace: "status > 599",
  },
  {
    ...C6,
    without: "accepting no transfer encoding but chunked",
    file: FRAMING,
    find: `if (!isChunked || headers.repeated.includes("transfer-encoding"))`,
    replace: `if (headers.repeated.includes("transfer-encoding"))`,
  },
  {
    ...C6,
    without: "refusing a second Transfer-Encoding",
    file: FRAMING,
    find: `|| headers.repeated.includes("transfer-encoding")`,
    replace: "",
  },
  {
    ...C6,
    without: "refusing a Content-Length that is not plain",
    file: FRAMING,
    find: "const isPlain = isPlainContentLength(length) && Number.isSafeInteger(bytes);",
    replace: "const isPlain = true;",
  },
  {
    ...C6,
    without: "accepting no version but HTTP/1",
    file: FRAMING,
    find: `httpVersion !== "1.1" && httpVersion !== "1.0"`,
    replace: `httpVersion === ""`,
  },
  {
    ...C6,
    without: "handling an unrequested upgrade",
    file: FRAMING,
    find: `if (status === 101 && !isUpgrade)
    throw new InvalidResponse("the upstream switched protocols without being asked to");`,
    replace: "void isUpgrade;",
  },
  {
    ...C6_PARSER,
    without: "a limit for the number of interim responses",
    file: PARSER,
    find: "this.#interim > MOST_INTERIM || ",
    replace: "",
  },
  {
    ...C6_PARSER,
    without: "a limit for the length of interim responses",
    file: PARSER,
    find: " || this.#interimBytes > MOST_INTERIM_BYTES",
    replace: "",
  },
  {
    ...C6,
    without: "judging each line of a head once it has been read",
    file: "src/core/http/response-head.ts",
    find: "this.#judge(text.slice(this.#judged, end));",
    replace: "",
  },
  {
    ...C6,
    without: "judging a length beside chunks before the end of the head",
    file: "src/core/http/response-head.ts",
    find: "if (this.#framing.length > before)\n      readFraming({\n        ...statusLine,\n        headers: new HeaderIndex(this.#framing),\n        isUpgrade: this.#isUpgrade,\n      });",
    replace: "",
  },
  {
    ...C6,
    without: "checking the reason phrase",
    file: "src/proxy/exchange/response-writer.ts",
    find: `REASON_PHRASE.test(text) ? text : ""`,
    replace: "text",
  },
  {
    ...C6,
    without: "refusing control characters and stray line ends",
    file: "src/core/http/header-lines.ts",
    find: `if (FORBIDDEN_IN_HEADERS.test(text)) throw new InvalidResponse("a header contains a control character");`,
    replace: "",
  },
  {
    ...C6,
    without: "strict chunks",
    file: "src/core/http/chunked-body.ts",
    find: `return byte === CR ? "data-lf" : "broken";`,
    replace: `return "data-lf";`,
  },
  {
    ...C7,
    without: "listening on idle connections",
    file: "src/proxy/upstream/connection.ts",
    find: "if (this.#user === null) this.socket.destroy();\n    else this.#user.onBytes(bytes);",
    replace: "this.#user?.onBytes(bytes);",
  },
  {
    ...C7,
    without: "letting a connection rest before it is used again",
    file: "src/proxy/upstream/connection.ts",
    find: "return this.#isUsed ? this.#tickMs + REST_MS - nowMs : 0;",
    replace: "return 0;",
  },
  {
    ...C7,
    without: "looking at a connection before it is used again",
    file: "src/proxy/upstream/upstream-request.ts",
    find: "setImmediate(() => this.#sendHeld());",
    replace: "this.#sendHeld();",
  },
  {
    ...C7,
    without: "another connection for a request that was not sent",
    file: "src/proxy/upstream/upstream-request.ts",
    find: `this.#head !== "" && this.#wasIdle ? this.#owner.replace(this) : null`,
    replace: `this.#head !== "" && this.#isDetached ? this.#owner.replace(this) : null`,
  },
  {
    ...C7,
    without: "closing a connection on which more came together with the response",
    file: "src/proxy/upstream/upstream-request.ts",
    find: " && !this.#parser.hasSurplus",
    replace: "",
  },
  {
    ...C7,
    without: "taking nothing for the response to a request of which nothing was sent",
    file: "src/proxy/upstream/upstream-request.ts",
    find: `if (this.#head !== "") {`,
    replace: `if (this.#isDetached) {`,
  },
];
