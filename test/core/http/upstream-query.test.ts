import assert from "node:assert/strict";
import { test } from "node:test";
import { UpstreamQuery } from "../../../src/core/http/upstream-query.ts";
import { formatLocalToken } from "../../../src/core/secrets/local-token.ts";

const plain = new UpstreamQuery({ query: {}, allowQuery: [] });
const TOKEN = formatLocalToken("codex", "x".repeat(43));

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
  "?filter=a%26key%3D1",
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

test("passes on a credential that the configuration allows by its exact name, and no local token in it", () => {
  const lax = new UpstreamQuery({ query: {}, allowQuery: ["key", "auth[token]"] });
  assert.equal(lax.compose("?key=s&api_key=t&a=1"), "?key=s&a=1");
  assert.equal(lax.compose("?%6Bey=s&auth%5Btoken%5D=1"), "?%6Bey=s&auth%5Btoken%5D=1");
  assert.equal(lax.compose("?KEY=s"), "");
  assert.equal(lax.compose(`?key=${TOKEN}`), "");
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
