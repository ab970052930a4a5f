import type { Mutant } from "./mutant.ts";

const HEADERS_FILE = "src/core/http/headers.ts";
const HEADER_POLICY = "src/core/http/header-policy.ts";

const C3 = { row: "C3", test: "test/security/c3-one-credential.test.ts" };
const C4 = { row: "C4", test: "test/security/c4-hop-by-hop.test.ts" };
const C5 = { row: "C5", test: "test/security/c5-no-forwarding-headers.test.ts" };
const C8 = { row: "C8", test: "test/security/c8-browser-headers.test.ts" };

/** Rules on which headers pass: C3 to C5, and C8. */
export const HEADERS: readonly Mutant[] = [
  {
    ...C3,
    without: "sending no key to an upstream that takes none",
    file: HEADERS_FILE,
    find: `if (options.auth !== "none") out.push(...buildCredentialHeader(options.auth, options.secret));`,
    replace: `out.push(...buildCredentialHeader(options.auth === "none" ? "bearer" : options.auth, options.secret));`,
  },
  {
    ...C3,
    without: "removing headers whose names look like a credential",
    file: HEADER_POLICY,
    find: "!LOOKS_LIKE_FORWARDING.test(dashed) &&\n    !LOOKS_LIKE_CREDENTIAL.test(dashed)",
    replace: `!LOOKS_LIKE_FORWARDING.test(dashed) &&\n    dashed !== "authorization" && dashed !== "x-api-key"`,
  },
  {
    ...C3,
    without: "treating underscores as dashes in header names",
    file: HEADER_POLICY,
    find: "!LOOKS_LIKE_FORWARDING.test(dashed) &&\n    !LOOKS_LIKE_CREDENTIAL.test(dashed)",
    replace: "!LOOKS_LIKE_FORWARDING.test(dashed) &&\n    !LOOKS_LIKE_CREDENTIAL.test(name)",
  },
  {
    ...C3,
    without: "removing x-tollkeeper headers",
    file: HEADER_POLICY,
    find: `!dashed.startsWith("x-tollkeeper-") &&`,
    replace: "",
  },
  {
    ...C4,
    without: "removing what the client's Connection header lists",
    file: HEADERS_FILE,
    find: "if (!isSentUpstream || hopByHop?.has(name)) continue;",
    replace: "if (!isSentUpstream) continue;",
  },
  {
    ...C4,
    without: "keeping framing headers that Connection lists",
    file: HEADERS_FILE,
    find: `|| name === "close" || CONTENT_NAMES.has(name))`,
    replace: `|| name === "close")`,
  },
  {
    ...C4,
    without: "adding our credential last",
    file: HEADERS_FILE,
    find: "out.push(...buildCredentialHeader(options.auth, options.secret));\n  return out;",
    replace: `out.push(...buildCredentialHeader(options.auth, options.secret));\n  return out.filter((_, i) => !hopByHop?.has((out[i - (i % 2)] ?? "").toLowerCase()));`,
  },
  {
    ...C4,
    without: "removing what the upstream's Connection header lists",
    file: HEADERS_FILE,
    find: "if (!policy.isSentDownstream || hopByHop?.has(policy.name)) continue;",
    replace: "if (!policy.isSentDownstream) continue;",
  },
  {
    ...C4,
    without: "removing hop-by-hop headers",
    file: HEADER_POLICY,
    find: `"proxy-connection",\n  "te",`,
    replace: "",
  },
  {
    ...C4,
    without: "framing chunked bodies ourselves",
    file: HEADER_POLICY,
    find: `"transfer-encoding",`,
    replace: "",
  },
  {
    ...C5,
    without: "removing headers whose names look like a forwarder's",
    file: HEADER_POLICY,
    find: "!LOOKS_LIKE_FORWARDING.test(dashed) &&",
    replace: "",
  },
  {
    ...C5,
    without: "removing Origin and Referer",
    file: HEADER_POLICY,
    find: `"origin",\n  "referer",`,
    replace: "",
  },
  {
    ...C5,
    without: "sending the upstream's Host",
    file: HEADERS_FILE,
    find: `const out = ["host", options.host];`,
    replace: `const out = ["host", headers.get("host") ?? options.host];`,
  },
  {
    ...C8,
    without: "removing headers by which a browser would load or report more",
    file: HEADER_POLICY,
    find: `"speculation-rules",`,
    replace: "",
  },
  {
    ...C8,
    without: "removing what a proxy asks for",
    file: HEADER_POLICY,
    find: "/^(?:access-control-|proxy-|x-tollkeeper-)/",
    replace: "/^(?:access-control-|x-tollkeeper-)/",
  },
  {
    ...C8,
    without: "removing headers that act in a browser",
    file: HEADER_POLICY,
    find: `"clear-site-data",`,
    replace: "",
  },
  {
    ...C8,
    without: "removing CORS headers",
    file: HEADER_POLICY,
    find: "/^(?:access-control-|proxy-|x-tollkeeper-)/",
    replace: "/^(?:proxy-|x-tollkeeper-)/",
  },
  {
    ...C8,
    without: "comparing header names in any case",
    file: HEADER_POLICY,
    find: "isSentUpstream: isSentUpstream(name), isSentDownstream: isSentDownstream(name)",
    replace: "isSentUpstream: isSentUpstream(name), isSentDownstream: isSentDownstream(raw)",
  },
];
