import type { Mutant } from "./mutant.ts";

const C1 = { row: "C1", test: "test/security/c1-request-smuggling.test.ts" };
const C2 = { row: "C2", test: "test/security/c2-duplicate-headers.test.ts" };
const C3 = { row: "C3", test: "test/security/c3-one-credential.test.ts" };
const C4 = { row: "C4", test: "test/security/c4-hop-by-hop.test.ts" };
const C5 = { row: "C5", test: "test/security/c5-no-forwarding-headers.test.ts" };
const C6 = { row: "C6", test: "test/security/c6-hostile-answers.test.ts" };
const C7 = { row: "C7", test: "test/security/c7-answer-queue.test.ts" };
const C8 = { row: "C8", test: "test/security/c8-browser-headers.test.ts" };

const ADMISSION = "src/core/admission.ts";
const HEADERS = "src/core/headers.ts";
const PASSAGE = "src/proxy/passage.ts";

export const C: readonly Mutant[] = [
  {
    ...C1,
    without: "the strict parser",
    file: "src/proxy/listener.ts",
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
    file: "src/core/plain-length.ts",
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
    file: HEADERS,
    find: `lower.includes("_") ? lower.replaceAll("_", "-") : lower`,
    replace: "lower",
  },
  {
    ...C1,
    without: "an end to Expect here",
    file: HEADERS,
    find: `  "expect",\n`,
    replace: "",
  },
  {
    ...C1,
    without: "GET without a body",
    file: "src/proxy/find-route.ts",
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
    file: "src/proxy/upload.ts",
    find: "    upstream.destroy();\n    if (req.complete)",
    replace: "    this.#isStopped = false;\n    if (req.complete)",
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
    ...C3,
    without: "a look at names that look like a credential's",
    file: HEADERS,
    find: "!LOOKS_LIKE_CREDENTIAL.test(dashed)",
    replace: `dashed !== "authorization" && dashed !== "x-api-key"`,
  },
  {
    ...C3,
    without: "underscores taken for dashes",
    file: HEADERS,
    find: "!LOOKS_LIKE_CREDENTIAL.test(dashed)",
    replace: "!LOOKS_LIKE_CREDENTIAL.test(lower)",
  },
  {
    ...C3,
    without: "an end to our own marks here",
    file: HEADERS,
    find: `    !dashed.startsWith("x-tollkeeper-") &&\n`,
    replace: "",
  },
  {
    ...C4,
    without: "the client's Connection list",
    file: HEADERS,
    find: "if (!passesUpstream(lower) || listed?.has(lower)) continue;",
    replace: "if (!passesUpstream(lower)) continue;",
  },
  {
    ...C4,
    without: "framing that Connection cannot take away",
    file: HEADERS,
    find: ` || name === "close" || FRAMING.has(name)) continue;`,
    replace: ` || name === "close") continue;`,
  },
  {
    ...C4,
    without: "our credential put on last",
    file: HEADERS,
    find: "out.push(...credentialHeader(head.auth, head.secret));\n  return out;",
    replace:
      'out.push(...credentialHeader(head.auth, head.secret));\n  return out.filter((_, i) => !listed?.has((out[i - (i % 2)] ?? "").toLowerCase()));',
  },
  {
    ...C4,
    without: "the upstream's Connection list",
    file: HEADERS,
    find: "if (NOT_DOWNSTREAM.has(lower) || listed?.has(lower)) continue;",
    replace: "if (NOT_DOWNSTREAM.has(lower)) continue;",
  },
  {
    ...C4,
    without: "hop-by-hop names",
    file: HEADERS,
    find: `  "proxy-connection",\n  "te",\n`,
    replace: "",
  },
  {
    ...C5,
    without: "a look at names that look like a forwarder's",
    file: HEADERS,
    find: "    !LOOKS_LIKE_FORWARDING.test(dashed) &&\n",
    replace: "",
  },
  {
    ...C5,
    without: "an end to Origin and Referer here",
    file: HEADERS,
    find: `  "origin",\n  "referer",\n`,
    replace: "",
  },
  {
    ...C5,
    without: "the upstream's own Host",
    file: HEADERS,
    find: `const out = ["host", head.host];`,
    replace: `const out = ["host", rawHeaders[rawHeaders.findIndex((name) => /^host$/i.test(name)) + 1] ?? head.host];`,
  },
  {
    ...C6,
    without: "a range of statuses",
    file: "src/core/answer-head.ts",
    find: "status < 200 || status > 599",
    replace: "status === 0",
  },
  {
    ...C6,
    without: "chunked as the only encoding",
    file: "src/core/answer-head.ts",
    find: "encoding !== undefined && !isChunked",
    replace: "encoding === null",
  },
  {
    ...C6,
    without: "a plain content-length",
    file: "src/core/answer-head.ts",
    find: "length !== undefined && !isPlainLength(String(length))",
    replace: "length === null",
  },
  {
    ...C6,
    without: "HTTP/1 as the only version",
    file: "src/core/answer-head.ts",
    find: `httpVersion !== "1.1" && httpVersion !== "1.0"`,
    replace: `httpVersion === ""`,
  },
  {
    ...C6,
    without: "ears for an upgrade",
    file: PASSAGE,
    find: `this.#fail({ code: "upstream_invalid", message: "the upstream switched protocols unasked" });`,
    replace: "",
  },
  {
    ...C6,
    without: "a check of the reason",
    file: "src/proxy/delivery.ts",
    find: `REASON_PHRASE.test(text) ? text : ""`,
    replace: "text",
  },
  {
    ...C6,
    without: "the strict parser",
    file: "src/proxy/forward.ts",
    find: "const STRICT = { insecureHTTPParser: false };",
    replace: "const STRICT = { insecureHTTPParser: true };",
  },
  {
    ...C7,
    without: "ears on idle connections",
    file: "src/proxy/forward.ts",
    find: `agent.on("free", (socket: Socket) => socket.on("data", giveUp));`,
    replace: "",
  },
  {
    ...C8,
    without: "the list of what has power in a browser",
    file: HEADERS,
    find: `  "clear-site-data",\n  "refresh",\n`,
    replace: "",
  },
  {
    ...C8,
    without: "an end to CORS grants here",
    file: HEADERS,
    find: `lower.startsWith("access-control-") || `,
    replace: "",
  },
  {
    ...C8,
    without: "names in any case",
    file: HEADERS,
    find: "if (NOT_DOWNSTREAM.has(lower) || listed?.has(lower)) continue;",
    replace: "if (NOT_DOWNSTREAM.has(name) || listed?.has(lower)) continue;",
  },
];
