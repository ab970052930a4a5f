import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import * as fc from "fast-check";
import { Failure } from "../../../src/core/failure.ts";
import { AwsKeys } from "../../../src/core/secrets/aws-keys.ts";
import { parseAwsKeys, parseKeyOutput } from "../../../src/core/secrets/key-output.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

const TOKEN = "ya29.sentinel-token-4711";
const NOON = Date.UTC(2026, 0, 31, 12);

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** An unsigned token with these claims. */
function jwt(claims: unknown): string {
  return `${encode({ alg: "none" })}.${encode(claims)}.sig`;
}

function execCredential(status: unknown): string {
  return JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status });
}

function assertGives(output: string, key: string, expiresAt: number | null): void {
  const secret = parseKeyOutput(output);
  assert.ok(secret.isSameAs(new Secret(key)), "another key");
  assert.equal(secret.expiresAt, expiresAt);
}

/** Returns message and hint of the failure, which hold nothing of the output. */
function problemOf(output: string, parse: (text: string) => Secret = parseKeyOutput): string {
  try {
    parse(output);
  } catch (error) {
    assert.ok(error instanceof Failure);
    const text = `${error.message}; ${error.hint}`;
    assert.doesNotMatch(`${text} ${error.stack} ${String(error.cause)}`, /sentinel/);
    return text;
  }
  return assert.fail("it was accepted");
}

test("plain text is the key on the first line, which does not expire", () => {
  for (const text of [TOKEN, `${TOKEN}\n`, `${TOKEN}\r\nuser: me\r\n`, `\uFEFF${TOKEN}\n`, ` ${TOKEN} `])
    assertGives(text, TOKEN, null);
  assert.match(problemOf("\nsentinel"), /is empty/);
});

test("an ExecCredential gives its token and the time that it states", () => {
  const expirationTimestamp = "2026-01-31T12:00:00Z";
  const text = execCredential({ token: TOKEN, expirationTimestamp });
  assertGives(text, TOKEN, NOON);
  assertGives(`\uFEFF${JSON.stringify(JSON.parse(text), null, 2)}\n`, TOKEN, NOON);
  for (const time of ["2026-01-31T13:00:00+01:00", "2026-01-31T12:00:00.000000Z", "2026-01-31t12:00:00z"])
    assertGives(execCredential({ token: TOKEN, expirationTimestamp: time }), TOKEN, NOON);
  assertGives(execCredential({ token: TOKEN }), TOKEN, null);
  assertGives(execCredential({ token: TOKEN, expirationTimestamp: null }), TOKEN, null);
});

test("a JSON Web Token says itself when it expires, also within an ExecCredential, and the earlier time counts", () => {
  const token = jwt({ exp: NOON / 1000 });
  assertGives(`${token}\n`, token, NOON);
  for (const [stated, at] of [
    ["2026-01-31T11:00:00Z", NOON - 3_600_000],
    ["2026-01-31T13:00:00Z", NOON],
  ] as const)
    assertGives(execCredential({ token, expirationTimestamp: stated }), token, at);
  assertGives(execCredential({ token }), token, NOON);
});

test("an exp in milliseconds is taken as such, and one that is no usable time is ignored", () => {
  for (const [exp, at] of [
    [NOON, NOON],
    [NOON / 1000 + 0.5, NOON + 500],
    [-1, null],
    [0, null],
    [1e300, null],
    [8.64e15 + 1e4, null],
    ["2026", null],
    [null, null],
    [{}, null],
  ] as const) {
    const token = jwt({ exp });
    assertGives(token, token, at);
  }
  for (const token of [jwt(null), jwt([1]), jwt("exp"), "a.b.c", "a.e30.", `${jwt({ exp: 1 })}.x.y`])
    assertGives(token, token, null);
});

test("AWS access keys are recognised and refused, because they sign requests", () => {
  const credential = {
    Version: 1,
    AccessKeyId: "sentinel",
    SecretAccessKey: "sentinel",
    SessionToken: "sentinel",
  };
  assert.match(
    problemOf(JSON.stringify(credential)),
    /AWS access keys, which sign requests.*Amazon Bedrock.*"auth": "sigv4"/,
  );
});

/** As AWS's command line prints them. */
const AWS = {
  Version: 1,
  AccessKeyId: "ASIASENTINEL47110000",
  SecretAccessKey: "sentinel/secret+4711",
  SessionToken: "sentinel//token+4711==",
  Expiration: "2026-01-31T12:00:00+00:00",
};

test("access keys that sign requests are read from what credential_process prints, with the time that it states", () => {
  const keys = parseAwsKeys(`${JSON.stringify(AWS, null, 4)}\n`);
  assert.deepEqual([keys.accessKeyId, keys.expiresAt], [AWS.AccessKeyId, NOON]);
  assert.ok(keys.secretAccessKey.isSameAs(new Secret(AWS.SecretAccessKey)));
  assert.ok(keys.sessionToken?.isSameAs(new Secret(AWS.SessionToken)));
  const { SessionToken: _token, Expiration: _time, ...fixed } = AWS;
  for (const json of [fixed, { ...fixed, SessionToken: null, Expiration: null }]) {
    const lasting = parseAwsKeys(JSON.stringify(json));
    assert.deepEqual([lasting.sessionToken, lasting.expiresAt], [null, null]);
  }
});

test("anything else signs nothing, and is refused without being repeated", () => {
  for (const text of [
    "sk-sentinel-key",
    "",
    "{",
    "[1]",
    "null",
    JSON.stringify({ ...AWS, AccessKeyId: 1 }),
    JSON.stringify({ ...AWS, AccessKeyId: "sentinel\nsentinel sentinel" }),
    JSON.stringify({ ...AWS, SecretAccessKey: "" }),
    JSON.stringify({ ...AWS, SecretAccessKey: "sentinel sentinel" }),
    execCredential({ token: "sentinel" }),
  ])
    assert.match(problemOf(text, parseAwsKeys), /did not print AWS access keys/, text);
  for (const SessionToken of [1, "", "sentinel\r\nx: y", "sentinel".repeat(2_000)])
    assert.match(problemOf(JSON.stringify({ ...AWS, SessionToken }), parseAwsKeys), /"SessionToken"/);
  for (const Expiration of [1, "", "tomorrow", "2026-13-41T99:00:00Z"])
    assert.match(
      problemOf(JSON.stringify({ ...AWS, Expiration }), parseAwsKeys),
      /"Expiration" is not a time/,
    );
});

test("access keys are shown nowhere, never sent as a key, and found in texts by either secret", () => {
  const keys = parseAwsKeys(JSON.stringify(AWS));
  assert.doesNotMatch(`${String(keys)} ${JSON.stringify(keys)} ${inspect(keys, { depth: 9 })}`, /sentinel/i);
  assert.throws(() => keys.reveal(), /never sent/);
  for (const text of [`a ${AWS.SecretAccessKey} b`, `a ${AWS.SessionToken} b`]) {
    assert.ok(keys.isIn(text));
    assert.doesNotMatch(keys.redactText(text), /sentinel/);
    const bytes = Buffer.from(text);
    keys.redactBytes(bytes);
    assert.doesNotMatch(bytes.toString(), /sentinel/);
  }
  const other = (changes: object) => parseAwsKeys(JSON.stringify({ ...AWS, ...changes }));
  assert.ok(keys.isSameAs(other({})));
  for (const changes of [
    { AccessKeyId: "ASIASENTINEL47119999" },
    { SecretAccessKey: "x" },
    { SessionToken: "x" },
  ])
    assert.ok(!keys.isSameAs(other(changes)));
  assert.ok(!keys.isSameAs(new Secret(AWS.SessionToken)));
  assert.ok(keys instanceof AwsKeys);
});

test("other JSON, and an ExecCredential without a token or with a bad time, is refused", () => {
  assert.match(problemOf(JSON.stringify({ access_token: "sentinel" })), /JSON of a form/);
  for (const status of [undefined, null, [], "sentinel", { token: 1 }, { clientKeyData: "sentinel" }])
    assert.match(problemOf(execCredential(status)), /without "status\.token"/);
  for (const time of ["sentinel", "", "2026-13-41T99:00:00Z", "tomorrow", 1e12, {}, "2026-01-31"])
    assert.match(
      problemOf(execCredential({ token: "sentinel", expirationTimestamp: time })),
      /is not a time/,
    );
  for (const token of ["", " ", "sentinel one", "sentinel\nother", "Bearer sentinel", "sentinel\0"])
    problemOf(execCredential({ token }));
});

test("huge and nested output is refused", () => {
  problemOf("sentinel".repeat(8_000));
  problemOf(`{"a":`.repeat(10_000));
  problemOf(`{"kind":${"[".repeat(20_000)}${"]".repeat(20_000)}}`);
  problemOf(jwt({ exp: 1, sentinel: "x".repeat(9_000) }));
  problemOf(`{"__proto__":{"kind":"ExecCredential","status":{"token":"sentinel"}}}`);
});

test("any output gives a key that a header can carry, with a time that a date can have, or a Failure that repeats none of it", () => {
  const time = fc.oneof(fc.string(), fc.double(), fc.constant("2026-01-31T12:00:00Z"), fc.constant(null));
  const token = fc.oneof(
    fc.string(),
    fc.double().map((exp) => jwt({ exp })),
    fc.jsonValue().map(jwt),
  );
  const status = fc.record({ token, expirationTimestamp: time });
  const output = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.json(),
    token,
    status.map(execCredential),
  );
  fc.assert(
    fc.property(output, (text) => {
      let secret;
      try {
        secret = parseKeyOutput(text);
      } catch (error) {
        assert.ok(error instanceof Failure);
        return;
      }
      assert.match(secret.reveal(), /^[\x21-\x7e]{1,8192}$/);
      if (secret.expiresAt !== null) new Date(secret.expiresAt).toISOString();
    }),
    { numRuns: 2_000 },
  );
});
