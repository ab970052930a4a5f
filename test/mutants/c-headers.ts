import type { Mutant } from "./mutant.ts";

const HEADERS_FILE = "src/core/http/headers.ts";
const NAMES_FILE = "src/core/http/header-policy.ts";

const C3 = { row: "C3", test: "test/security/c3-one-credential.test.ts" };
const C4 = { row: "C4", test: "test/security/c4-hop-by-hop.test.ts" };
const C5 = { row: "C5", test: "test/security/c5-no-forwarding-headers.test.ts" };
const C8 = { row: "C8", test: "test/security/c8-browser-headers.test.ts" };

/** Rules on which headers pass: C3 to C5, and C8. */
export const HEADERS: readonly Mutant[] = [
  {
    ...C3,
    without: "removing headers whose names look like a credential",
    file: NAMES_FILE,
    find: "!LOOKS_LIKE_CREDENTIAL.test(dashed)",
    replace: `dashed !== "authorization" && dashed !== "x-api-key"`,
  },
  {
    ...C3,
    without: "treating underscores as dashes in header names",
    file: NAMES_FILE,
    find: "!LOOKS_LIKE_CREDENTIAL.test(dashed)",
    replace: "!LOOKS_LIKE_CREDENTIAL.test(lower)",
  },
  {
    ...C3,
    without: "removing x-tollkeeper headers",
    file: NAMES_FILE,
    find: `    !dashed.startsWith("x-tollkeeper-") &&\n`,
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
    find: ` || name === "close" || CONTENT_NAMES.has(name))`,
    replace: ` || name === "close")`,
  },
  {
    ...C4,
    without: "adding our credential last",
    file: HEADERS_FILE,
    find: "out.push(...buildCredentialHeader(options.auth, options.secret));\n  return out;",
    replace: `out.push(...buildCredentialHeader(options.auth, options.secret));\n  return out.filter((_, i) => !listed?.has((out[i - (i % 2)] ?? "").toLowerCase()));`,
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
    file: NAMES_FILE,
    find: `  "proxy-connection",\n  "te",\n`,
    replace: "",
  },
  {
    ...C4,
    without: "framing chunked bodies ourselves",
    file: NAMES_FILE,
    find: `  "transfer-encoding",\n`,
    replace: "",
  },
  {
    ...C5,
    without: "removing headers whose names look like a forwarder's",
    file: NAMES_FILE,
    find: "    !LOOKS_LIKE_FORWARDING.test(dashed) &&\n",
    replace: "",
  },
  {
    ...C5,
    without: "removing Origin and Referer",
    file: NAMES_FILE,
    find: `  "origin",\n  "referer",\n`,
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
    without: "removing headers that act in a browser",
    file: NAMES_FILE,
    find: `  "clear-site-data",\n  "refresh",\n`,
    replace: "",
  },
  {
    ...C8,
    without: "removing CORS headers",
    file: NAMES_FILE,
    find: `!name.startsWith("access-control-") && `,
    replace: "",
  },
  {
    ...C8,
    without: "comparing header names in any case",
    file: NAMES_FILE,
    find: "goesDownstream: goesDownstream(lower)",
    replace: "goesDownstream: goesDownstream(raw)",
  },
];
