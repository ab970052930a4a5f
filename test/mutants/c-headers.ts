import type { Mutant } from "./mutant.ts";

const HEADERS_FILE = "src/core/http/headers.ts";
const UPSTREAM_QUERY = "src/core/http/upstream-query.ts";
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
    find: "!LOOKS_LIKE_FORWARDING.test(dashed) &&\n    !namesCredential(dashed)",
    replace: `!LOOKS_LIKE_FORWARDING.test(dashed) &&\n    dashed !== "authorization" && dashed !== "x-api-key"`,
  },
  {
    ...C3,
    without: "treating other marks as dashes in header names",
    file: HEADER_POLICY,
    find: "!LOOKS_LIKE_FORWARDING.test(dashed) &&\n    !namesCredential(dashed)",
    replace: "!LOOKS_LIKE_FORWARDING.test(dashed) &&\n    !namesCredential(name)",
  },
  {
    ...C3,
    without: "finding a credential within a word",
    file: "src/core/http/credential-names.ts",
    find: '"auth(?!or(?!i[sz]))",\n  "token(?!i[sz])",\n  "secret(?!ar)",\n  "passw",',
    replace:
      '"(?<![^-])auth(?:orization)?(?![^-])",\n  "(?<![^-])token(?![^-])",\n  "(?<![^-])secret(?![^-])",',
  },
  {
    row: "C3",
    test: "test/core/http/credential-names.test.ts",
    without: "forwarding counts of tokens",
    file: "src/core/http/credential-names.ts",
    find: 'return SECRET.test(folded.replaceAll(HARMLESS, "-"));',
    replace: "return true;",
  },
  {
    ...C3,
    without: "removing credentials from queries",
    file: UPSTREAM_QUERY,
    find: "return !namesCredential(foldName(name)) && (again === name || !namesCredential(foldName(again)));",
    replace: "return true;",
  },
  {
    ...C3,
    without: "decoding the names of query parameters",
    file: UPSTREAM_QUERY,
    find: "if (!/[%+]/.test(text)) return text;",
    replace: "if (!/[+]/.test(text)) return text;",
  },
  {
    ...C3,
    without: "taking a semicolon for a separator of query parameters",
    file: UPSTREAM_QUERY,
    find: "/[&;?]/g",
    replace: "/[&?]/g",
  },
  {
    ...C3,
    without: "allowing a query parameter by its name",
    file: UPSTREAM_QUERY,
    find: "if (this.#allowed.has(name)) return true;",
    replace: "if (this.#allowed.size > 0) return true;",
  },
  {
    ...C3,
    without: "removing local tokens from queries",
    file: UPSTREAM_QUERY,
    find: "|| hasLocalToken(decoded)",
    replace: "",
  },
  {
    ...C3,
    without: "removing headers that contain a local token",
    file: HEADERS_FILE,
    find: "|| hasLocalToken(value)",
    replace: "",
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
