import assert from "node:assert/strict";
import { test } from "node:test";
import { UpstreamQuery } from "../../../src/core/http/upstream-query.ts";
import { formatLocalToken } from "../../../src/core/secrets/local-token.ts";

const plain = new UpstreamQuery({ query: {}, allowQuery: [] });
const TOKEN = formatLocalToken("codex", "x".repeat(43));

const KEY = `hf_${"a1B2".repeat(8)}`;

const UNCHANGED = [
  "",
  "?",
  "?beta=true",
  "?limit=1000",
  "?client_version=0.169.0",
  "?beta=true&x=%2F..%2f&x=2&empty=&flag",
  "?&&a=1&&b=2&",
  "?a=1;b=2",
  "?pageToken=x&page_token=y&upload_id=z",
  "?api-version=2024-10-21",
  "?filter=a%26b%3D1",
  "?search=cats%26tokens%2Bdogs",
  "?model=gpt-5%2Fmini&include=x%253Dy",
  "?a=%",
  "?include[]=key",
  "?model=token",
];

test("passes queries without a credential on unchanged, the first time and the second", () => {
  for (const query of [...UNCHANGED, ...UNCHANGED]) assert.equal(plain.compose(query), query);
});

const FILTERED: [what: string, query: string, rest: string][] = [
  ["the only parameter", "?key=s", ""],
  ["the first one", "?key=s&beta=true", "?beta=true"],
  ["the last one", "?beta=true&key=s", "?beta=true"],
  ["one in the middle", "?a=%2f&key=s&b=%2F", "?a=%2f&b=%2F"],
  ["repeated ones", "?key=s&a=1&key=t&a=2&key=u", "?a=1&a=2"],
  ["one without a value", "?a=1&key&b=2", "?a=1&b=2"],
  ["one with several equals signs", "?key==s=&b=2", "?b=2"],
  ["one in upper case", "?API_KEY=s&b", "?b"],
  ["one in camel case", "?accessToken=s&b", "?b"],
  ["one with an escaped letter", "?%6bey=s&b", "?b"],
  ["one with an escaped letter inside", "?ap%69_key=s&b", "?b"],
  ["one that is escaped twice", "?%256bey=s&b", "?b"],
  ["one with a plus", "?api+key=s&b", "?b"],
  ["one in brackets", "?auth[token]=s&b", "?b"],
  ["one in escaped brackets", "?auth%5Btoken%5D=s&b", "?b"],
  ["one behind a semicolon", "?a=1;key=s&b=2", "?a=1&b=2"],
  ["one before a semicolon", "?key=s;a=1&b=2", "?a=1&b=2"],
  ["one behind an escaped ampersand of HTML", "?a=1&amp;key=s", "?a=1&amp"],
  ["one that was added to a query like a query", "?beta=true?key=s", "?beta=true"],
  ["one behind malformed escapes", "?a=%&%zz=1&k%65y=s", "?a=%&%zz=1"],
  ["one between empty parameters", "?&key=s&&b=2", "?&&b=2"],
  ["a local token under another name", `?beta=true&user=${TOKEN}&b`, "?beta=true&b"],
  ["a local token as a name", `?${TOKEN}`, ""],
  ["a local token with something joined to it", `?user=${TOKEN}_1&b`, "?b"],
  ["a local token that is escaped twice", `?user=${TOKEN.replaceAll("-", "%252D")}&b`, "?b"],
  ["a key that is told by its form under another name", `?user=${KEY}&b`, "?b"],
  ["an escaped key that is told by its form", `?user=${KEY.replaceAll("_", "%5F")}&b`, "?b"],
  ["one behind an escaped ampersand", "?a=1%26api_key%3Ds&b", "?b"],
  ["one behind an escaped question mark", "?a=1%3Fapi_key%3Ds&b", "?b"],
  ["one behind an ampersand that is escaped twice", "?a=1%2526api_key%253Ds&b", "?b"],
  ["one with the sign of Kelvin for a k", "?%E2%84%AAey=s&b", "?b"],
  ["one with a long s", "?%C5%BFecret=s&b", "?b"],
  ["one in wide letters", "?%EF%BD%8Bey=s&b", "?b"],
  ["one with an accent", "?k%C4%93y=s&b", "?b"],
  ["an escaped local token", `?user=${TOKEN.replaceAll("-", "%2D")}&b`, "?b"],
  ...["key", "api_key", "access_token", "subscription-key", "oauth_token", "sig", "X-Goog-Signature"].map(
    (name): [string, string, string] => [`\`${name}\``, `?alt=sse&${name}=s&b`, "?alt=sse&b"],
  ),
];

for (const [what, query, rest] of FILTERED) {
  test(`leaves out a credential and keeps the other bytes in their order: ${what}`, () => {
    assert.equal(plain.compose(query), rest);
    assert.equal(plain.compose(query), rest);
  });
}

test("passes on a credential that the configuration allows by its exact name, whatever its value but a local token", () => {
  const lax = new UpstreamQuery({ query: {}, allowQuery: ["key", "auth[token]"] });
  assert.equal(lax.compose("?key=s&api_key=t&a=1"), "?key=s&a=1");
  assert.equal(lax.compose("?%6Bey=s&auth%5Btoken%5D=1"), "?%6Bey=s&auth%5Btoken%5D=1");
  assert.equal(lax.compose("?KEY=s"), "");
  assert.equal(lax.compose(`?key=${TOKEN}`), "");
  assert.equal(lax.compose(`?key=${KEY}&user=${KEY}`), `?key=${KEY}`);
});

test("adds the configuration's parameters, which replace the client's in every spelling", () => {
  const fixed = new UpstreamQuery({ query: { "api-version": "2024 a" }, allowQuery: [] });
  assert.equal(fixed.compose(""), "?api-version=2024%20a");
  assert.equal(fixed.compose("?"), "?api-version=2024%20a");
  assert.equal(fixed.compose("?beta=true"), "?beta=true&api-version=2024%20a");
  assert.equal(fixed.compose("?beta=true"), "?beta=true&api-version=2024%20a");
  assert.equal(fixed.compose("?key=s"), "?api-version=2024%20a");
  for (const own of ["?api-version=1", "?api%2Dversion=1", "?a=1;api-version=1", "?api-version=1;a=1"])
    assert.equal(fixed.compose(own).match(/version/g)?.length, 1, own);
});
