import type { Mutant } from "./mutant.ts";

const FILE = "src/core/headers.ts";

const C3 = { row: "C3", test: "test/security/c3-one-credential.test.ts" };
const C4 = { row: "C4", test: "test/security/c4-hop-by-hop.test.ts" };
const C5 = { row: "C5", test: "test/security/c5-no-forwarding-headers.test.ts" };
const C8 = { row: "C8", test: "test/security/c8-browser-headers.test.ts" };

/** Which headers pass: C3 to C5, and C8. */
export const HEADERS: readonly Mutant[] = [
  {
    ...C3,
    without: "a look at names that look like a credential's",
    file: FILE,
    find: "!LOOKS_LIKE_CREDENTIAL.test(dashed)",
    replace: `dashed !== "authorization" && dashed !== "x-api-key"`,
  },
  {
    ...C3,
    without: "underscores taken for dashes",
    file: FILE,
    find: "!LOOKS_LIKE_CREDENTIAL.test(dashed)",
    replace: "!LOOKS_LIKE_CREDENTIAL.test(lower)",
  },
  {
    ...C3,
    without: "an end to our own marks here",
    file: FILE,
    find: `    !dashed.startsWith("x-tollkeeper-") &&\n`,
    replace: "",
  },
  {
    ...C4,
    without: "the client's Connection list",
    file: FILE,
    find: "if (!passesUpstream(lower) || listed?.has(lower)) continue;",
    replace: "if (!passesUpstream(lower)) continue;",
  },
  {
    ...C4,
    without: "framing that Connection cannot take away",
    file: FILE,
    find: ` || name === "close" || FRAMING.has(name)) continue;`,
    replace: ` || name === "close") continue;`,
  },
  {
    ...C4,
    without: "our credential put on last",
    file: FILE,
    find: "out.push(...credentialHeader(head.auth, head.secret));\n  return out;",
    replace:
      'out.push(...credentialHeader(head.auth, head.secret));\n  return out.filter((_, i) => !listed?.has((out[i - (i % 2)] ?? "").toLowerCase()));',
  },
  {
    ...C4,
    without: "the upstream's Connection list",
    file: FILE,
    find: "if (NOT_DOWNSTREAM.has(lower) || listed?.has(lower)) continue;",
    replace: "if (NOT_DOWNSTREAM.has(lower)) continue;",
  },
  {
    ...C4,
    without: "hop-by-hop names",
    file: FILE,
    find: `  "proxy-connection",\n  "te",\n`,
    replace: "",
  },
  {
    ...C4,
    without: "a framing of our own for bodies in chunks",
    file: FILE,
    find: `  "transfer-encoding",\n`,
    replace: "",
  },
  {
    ...C5,
    without: "a look at names that look like a forwarder's",
    file: FILE,
    find: "    !LOOKS_LIKE_FORWARDING.test(dashed) &&\n",
    replace: "",
  },
  {
    ...C5,
    without: "an end to Origin and Referer here",
    file: FILE,
    find: `  "origin",\n  "referer",\n`,
    replace: "",
  },
  {
    ...C5,
    without: "the upstream's own Host",
    file: FILE,
    find: `const out = ["host", head.host];`,
    replace: `const out = ["host", rawHeaders[rawHeaders.findIndex((name) => /^host$/i.test(name)) + 1] ?? head.host];`,
  },
  {
    ...C8,
    without: "the list of what has power in a browser",
    file: FILE,
    find: `  "clear-site-data",\n  "refresh",\n`,
    replace: "",
  },
  {
    ...C8,
    without: "an end to CORS grants here",
    file: FILE,
    find: `lower.startsWith("access-control-") || `,
    replace: "",
  },
  {
    ...C8,
    without: "names in any case",
    file: FILE,
    find: "if (NOT_DOWNSTREAM.has(lower) || listed?.has(lower)) continue;",
    replace: "if (NOT_DOWNSTREAM.has(name) || listed?.has(lower)) continue;",
  },
];
