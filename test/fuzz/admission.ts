import assert from "node:assert/strict";
import * as fc from "fast-check";
import { admit, refuseBody } from "../../src/core/http/admission.ts";
import { HeaderIndex } from "../../src/core/http/header-index.ts";
import { flatten, headerName, headerValue, respell, type Header } from "./header-lists.ts";
import { property, type Property } from "./property.ts";
import { splitWords } from "./words.ts";

const PORT = 8655;
const RULES = { allowedHosts: ["host.docker.internal:8655"], allowedOrigins: ["vscode-webview://abc"] };

const OWN_HOSTS = ["127.0.0.1:8655", "localhost:8655", "[::1]:8655", ...RULES.allowedHosts];

/** Valid and nearly valid values. */
const VALUES: Record<string, readonly string[]> = {
  host: [
    ...OWN_HOSTS,
    ...splitWords(`LOCALHOST:8655 localhost localhost:86550 localhost.:8655 127.0.0.1.evil.example:8655 evil.example
      127.evil.example:8655 :8655 0.0.0.0:8655 [::]:8655 localhost:8655,evil.example localhost:08655 127.1:8655`),
    "",
    " localhost:8655",
    "localhost:8655 ",
  ],
  origin: ["null", "", "http://localhost:8655", "http://evil.example", ...RULES.allowedOrigins],
  referer: splitWords(`http://localhost:8655/ http://localhost:8655 http://localhost:8655.evil.example/
    http://localhost:8655@evil.example/ https://localhost:8655/ vscode-webview://abc/x`),
  "sec-fetch-site": ["none", "same-origin", "same-site", "cross-site", "", "None"],
  "content-type": [
    "application/json",
    "Application/JSON; charset=utf-8",
    "application/jsonp",
    "application/json, text/plain",
    "text/plain;application/json",
    "multipart/form-data",
    "",
  ],
  "content-length": ["2", "0", "+2", "02", "2, 2", "0x2", ""],
  "transfer-encoding": ["chunked", "Chunked", "gzip, chunked", "identity", ""],
  "x-forwarded-host": ["localhost:8655"],
};

const header: fc.Arbitrary<Header> = fc.oneof(
  ...Object.entries(VALUES).map(([name, values]) =>
    fc.tuple(respell(fc.constant(name)), fc.oneof(fc.constantFrom(...values), headerValue)),
  ),
  fc.tuple(headerName, headerValue),
);

/** An admissible request. */
const GOOD: Header[] = [
  ["host", "localhost:8655"],
  ["content-type", "application/json"],
  ["content-length", "2"],
];

/** The admissible request, a part of it, or the request with one value replaced. */
const base: fc.Arbitrary<Header[]> = fc.oneof(
  fc.constant(GOOD),
  fc.subarray(GOOD),
  fc
    .constantFrom("host", "content-type", "content-length")
    .chain((name) =>
      fc
        .constantFrom(...(VALUES[name] ?? []))
        .map((value) => GOOD.map((one): Header => (one[0] === name ? [name, value] : one))),
    ),
);

const headers: fc.Arbitrary<Header[]> = fc
  .tuple(base, fc.oneof(fc.constant([]), fc.array(header, { maxLength: 5 })))
  .chain(([good, more]) => fc.shuffledSubarray([...good, ...more], { minLength: good.length + more.length }));

function admits(method: string, httpVersion: string, list: readonly Header[]): boolean {
  const arrival = { httpVersion, headers: new HeaderIndex(flatten(list)), localPort: PORT };
  const takesBody =
    method !== "POST" || refuseBody(arrival.headers, "/v1/responses", { accepts: ["json"] }) === null;
  return admit(arrival, RULES) === null && takesBody;
}

/** Every value of a header. */
function valuesOf(name: string, list: readonly Header[]): string[] {
  return list.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value);
}

/** Checks the admission rules on the plain list of headers (SECURITY.md A1 to A3, C1 and C2). */
function assertHarmless(method: string, httpVersion: string, list: readonly Header[]): void {
  const [host, ...otherHosts] = valuesOf("host", list);
  assert.ok(OWN_HOSTS.includes(host?.toLowerCase() ?? "") && otherHosts.length === 0);
  const origins = valuesOf("origin", list);
  assert.ok(origins.every((origin) => RULES.allowedOrigins.includes(origin)));
  for (const referer of valuesOf("referer", list)) {
    const { protocol, host: from } = new URL(referer);
    const isOwn = protocol === "http:" && OWN_HOSTS.slice(0, 3).includes(from);
    assert.ok(isOwn || `${protocol}//${from}` === RULES.allowedOrigins[0], referer);
  }
  const isWeb = valuesOf("sec-fetch-site", list).some((site) => site !== "none" && site !== "same-origin");
  assert.ok(!isWeb || origins.length === 1);
  for (const name of Object.keys(VALUES).filter((one) => one !== "x-forwarded-host")) {
    assert.ok(valuesOf(name, list).length < 2, name);
  }
  assert.equal(httpVersion, "1.1");
  for (const length of valuesOf("content-length", list)) assert.match(length, /^\d+$/);
  const [encoding] = valuesOf("transfer-encoding", list);
  assert.ok(encoding === undefined || encoding.toLowerCase() === "chunked");
  assert.ok(encoding === undefined || valuesOf("content-length", list).length === 0);
  if (method === "POST")
    assert.match(valuesOf("content-type", list)[0] ?? "", /^\s*application\/json\s*(;|$)/i);
}

export const ADMISSION: readonly Property[] = [
  property(
    "admission: an admitted request breaks no rule and is admitted every time",
    { batch: 1500 },
    fc.property(
      fc.constantFrom("POST", "GET", "OPTIONS"),
      fc.constantFrom("1.1", "1.1", "1.1", "1.0"),
      headers,
      (method, version, list) => {
        const isAdmitted = admits(method, version, list);
        assert.equal(admits(method, version, list), isAdmitted);
        if (isAdmitted) assertHarmless(method, version, list);
      },
    ),
  ),
  property(
    "admission: a valid request is admitted whatever other headers it has",
    { batch: 300 },
    fc.property(
      fc.constantFrom(...OWN_HOSTS),
      fc.array(fc.tuple(headerName, headerValue)),
      (host, others) => {
        const harmless = others.filter(([name]) => !(name.toLowerCase() in VALUES) && !isJudged(name));
        assert.ok(admits("POST", "1.1", [["Host", host], ...GOOD.slice(1), ...harmless]));
      },
    ),
  ),
];

function isJudged(name: string): boolean {
  return ["expect", "upgrade", "authorization", "x-api-key", "content-encoding"].includes(name.toLowerCase());
}
