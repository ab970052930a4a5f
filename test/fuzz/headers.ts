import assert from "node:assert/strict";
import { validateHeaderName, validateHeaderValue } from "node:http";
import * as fc from "fast-check";
import { HeaderIndex } from "../../src/core/http/header-index.ts";
import { INERT_HEADERS } from "../../src/core/http/header-policy.ts";
import { buildDownstreamHeaders, buildUpstreamHeaders } from "../../src/core/http/build-headers.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { flatten, headerName, headerValue, pairsOf, respell, type Header } from "./header-lists.ts";
import { redactEscapes, redactSimply } from "./key-spellings.ts";
import { property, type Property } from "./property.ts";
import { splitWords } from "./words.ts";

const KEY = "sk-real+key.1";
const SECRET = new Secret(KEY);
const HOST = "api.example.com";

/** RFC 9110 section 7.6.1. */
const HOP_BY_HOP = splitWords("connection keep-alive proxy-connection te trailer transfer-encoding upgrade");
const CREDENTIALS =
  splitWords(`authorization proxy-authorization x-authorization x-api-key api-key apikey x-goog-api-key
  anthropic-api-key anthropic-auth-token x-auth-token x-amz-security-token private-token cookie cookie2
  ocp-apim-subscription-key chatgpt-account-id x-auth-key client-secret x-password`);
const FORWARDING =
  splitWords(`forwarded via x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip x-client-ip
  true-client-ip cf-connecting-ip origin referer proxy-status x-http-method-override`);
const OWN_MARKS = splitWords("x-tollkeeper-tool x-tollkeeper-refusal expect");
const NEVER_UPSTREAM = [...HOP_BY_HOP, ...CREDENTIALS, ...FORWARDING, ...OWN_MARKS];
/** Headers that describe the body and must not be removed even if `Connection` lists them (SECURITY.md C4). */
const FRAMING = splitWords("content-length content-type content-encoding");
const HARMLESS =
  splitWords(`anthropic-version anthropic-beta user-agent session_id originator x-title openai-organization
  x-stainless-retry-count idempotency-key sec-fetch-mode http-referer x-claude-code-session-id`);
const NEVER_DOWNSTREAM = [
  ...HOP_BY_HOP,
  ...splitWords(`content-security-policy x-content-type-options cross-origin-resource-policy
    content-security-policy-report-only set-cookie set-cookie2 strict-transport-security clear-site-data refresh alt-svc
    access-control-allow-origin access-control-allow-credentials x-tollkeeper-refusal`),
];

const known = respell(fc.constantFrom(...NEVER_UPSTREAM, ...NEVER_DOWNSTREAM, ...FRAMING, ...HARMLESS));
const name = fc.oneof(known, known, headerName);

/** A list in which `Connection` may name any other header, and names may repeat. */
const headers: fc.Arbitrary<Header[]> = fc
  .tuple(
    fc.array(fc.tuple(name, headerValue)),
    fc.array(fc.oneof(name, fc.constant("close")), { maxLength: 3 }),
  )
  .chain(([list, options]) => {
    const connection: Header[] = options.length === 0 ? [] : [["Connection", options.join(" , ")]];
    const length = list.length + connection.length;
    return fc.shuffledSubarray([...list, ...connection], { minLength: length });
  });

function listedIn(list: readonly Header[]): string[] {
  return list
    .filter(([header]) => header.toLowerCase() === "connection")
    .flatMap(([, value]) => value.split(",").map((option) => option.trim().toLowerCase()))
    .filter((option) => !FRAMING.includes(option) && option !== "keep-alive" && option !== "close");
}

/** True when `whole` has all of `part` in the same order. */
function isWithin(part: readonly Header[], whole: readonly Header[]): boolean {
  let at = 0;
  for (const [header, value] of whole) {
    if (part[at]?.[0] === header && part[at]?.[1] === value) at += 1;
  }
  return at === part.length;
}

function isLegal([header, value]: Header): boolean {
  validateHeaderName(header);
  validateHeaderValue(header, value);
  return true;
}

function judgeUpstream(
  list: readonly Header[],
  auth: "bearer" | "x-api-key",
  defaultVersion: string | null,
): void {
  const out = pairsOf(
    buildUpstreamHeaders(new HeaderIndex(flatten(list)), {
      host: HOST,
      auth,
      secret: SECRET,
      defaultVersion,
      isLocal: false,
      fixed: [],
      addedBytes: 0,
    }),
  );
  const credential: Header = auth === "bearer" ? ["authorization", `Bearer ${KEY}`] : ["x-api-key", KEY];
  assert.deepEqual(out[0], ["host", HOST]);
  assert.deepEqual(out.slice(-2), [["accept-encoding", "identity"], credential]);
  assert.ok(out.every(isLegal));
  let passed = out.slice(1, -2);
  if (isAddedVersion(passed, list, defaultVersion)) passed = passed.slice(0, -1);
  const listed = listedIn(list);
  for (const [header] of passed) {
    const lower = header.toLowerCase();
    assert.ok(!NEVER_UPSTREAM.includes(lower.replaceAll("_", "-")), header);
    assert.ok(!["host", "accept-encoding"].includes(lower.replaceAll("_", "-")), header);
    assert.ok(!listed.includes(lower), header);
    assert.ok(lower === lower.replaceAll("_", "-") || !FRAMING.includes(lower.replaceAll("_", "-")), header);
  }
  assert.ok(isWithin(passed, list));
  for (const wanted of list.filter(([header]) => isHarmless(header, listed)))
    assert.ok(passed.includes(wanted) || has(passed, wanted));
}

function isAddedVersion(passed: readonly Header[], list: readonly Header[], version: string | null): boolean {
  const sent = passed.filter(([header]) => header.toLowerCase() === "anthropic-version");
  const own = list.filter(([header]) => header.toLowerCase() === "anthropic-version");
  const isAdded = version !== null && (own.length === 0 || listedIn(list).includes("anthropic-version"));
  assert.equal(
    sent.length,
    isAdded ? 1 : version === null && listedIn(list).includes("anthropic-version") ? 0 : own.length,
  );
  return isAdded;
}

function isHarmless(header: string, listed: readonly string[]): boolean {
  const lower = header.toLowerCase();
  return (HARMLESS.includes(lower) || FRAMING.includes(lower)) && !listed.includes(lower);
}

function has(list: readonly Header[], [header, value]: Header): boolean {
  return list.some(([otherName, otherValue]) => otherName === header && otherValue === value);
}

/** Responses that echo the key in any part of a header. */
const echoing: fc.Arbitrary<Header[]> = fc
  .tuple(headers, fc.array(headerValue, { maxLength: 3 }))
  .map(([list, values]) => [
    ...list,
    ...values.map((value): Header => ["x-debug", `${value}${KEY}${value}`]),
    ...values.slice(1).map((value): Header => [`x-${KEY}`, value]),
  ]);

export const HEADERS: readonly Property[] = [
  property(
    "headers: an upstream gets our credential, no header that could be another one, and the rest in the client's order",
    { batch: 600 },
    fc.property(
      headers,
      fc.constantFrom("bearer", "x-api-key"),
      fc.constantFrom("2023-06-01", null),
      judgeUpstream,
    ),
  ),
  property(
    "headers: a client gets the upstream's headers except those that act in a browser, and never the key",
    { batch: 600 },
    fc.property(echoing, (list) => {
      const all = buildDownstreamHeaders(new HeaderIndex(flatten(list)), SECRET);
      assert.deepEqual(all.slice(-INERT_HEADERS.length), INERT_HEADERS);
      const sent = pairsOf(all.slice(0, -INERT_HEADERS.length));
      const out = sent.map(([header, value]): Header => [header, redactEscapes(value)]);
      const listed = listedIn(list);
      assert.ok(sent.every(isLegal));
      for (const [header] of out) {
        assert.ok(!NEVER_DOWNSTREAM.includes(header.toLowerCase()), header);
        assert.ok(!listed.includes(header.toLowerCase()), header);
      }
      assert.ok(!flatten(out).some((text) => text.includes(KEY)));
      const redacted = list.map(([header, value]): Header => [
        header,
        redactEscapes(redactSimply(value, KEY)),
      ]);
      assert.ok(isWithin(out, redacted));
      for (const wanted of redacted.filter(([header]) => isHarmless(header, listed)))
        assert.ok(has(out, wanted));
    }),
  ),
];
