import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { redactBody } from "../../../src/core/secrets/redact-body.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

const KEY = "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34";

/** Returns the redacted body, and how many steps it took. */
function redact(body: string | Buffer, secrets: readonly Secret[] = []): { text: string; steps: number } {
  const work = redactBody(Buffer.from(body), secrets);
  for (let steps = 0; ; steps += 1) {
    const step = work.next();
    if (step.done === true) return { text: step.value.toString(), steps };
  }
}

const stars = (text: string) => "*".repeat(text.length);

test("keys and tokens are found by their form, and what an assignment names by its name", () => {
  const RANDOM = "ab12cd34ef56gh78ij90klmn";
  const lines: [before: string, secret: string, after: string][] = [
    ['{"text":"use ', KEY, ' now"}'],
    ['{"api_key":"', RANDOM, '"}'],
    ["export MY_TOKEN=", RANDOM, "\n"],
    [String.raw`{"text":"export MY_TOKEN=`, RANDOM, String.raw`\nX=1"}`],
    [String.raw`{"text":"{\"client_secret\":\"`, RANDOM, String.raw`\",\"a\":1}"}`],
    [String.raw`{"text":"{\\\"client_secret\\\": \\\"`, RANDOM, String.raw`\\\"}"}`],
    ["{'password': '", "hunter2222", "'}"],
    ["Authorization: Bearer ", RANDOM, ""],
    ["https://user:", "some-password1", "@example.com/"],
    ["https://example.com/?sig=", RANDOM, " next"],
    ["AUTH_TOKEN=", `${RANDOM}${"x1".repeat(200)}`, " next"],
  ];
  for (const [before, secret, after] of lines)
    assert.equal(redact(before + secret + after).text, before + stars(secret) + after, before);
});

test("ids, sizes and code stay", () => {
  for (const text of [
    '{"prompt_cache_key":"0f8c1d2e-aaaa-4bbb-8ccc-1234567890ab"}',
    '{"max_tokens":4096,"total_tokens":"1234567890"}',
    '{"api_key":"YOUR_API_KEY_placeholder_0"}',
    "const token = readToken(path);",
    '{"id":"toolu_01ABCDEFGHIJKLMNOPQRSTUV"}',
  ])
    assert.equal(redact(text).text, text);
});

test("a secret is found in any spelling, wherever it begins, and work is done in steps", () => {
  const secret = new Secret("some-Secret-value-4711");
  const spellings = ["some-Secret-value-4711", Buffer.from("some-Secret-value-4711").toString("base64")];
  for (const spelling of spellings)
    for (const at of [0, 24 * 1024 - 8, 28 * 1024 - 4, 48 * 1024 - 1]) {
      const before = ". ".repeat(30 * 1024).slice(0, at);
      const { text, steps } = redact(`${before}${spelling} rest`, [secret]);
      assert.ok(!text.includes(spelling), `${at}`);
      assert.ok(text.startsWith(before) && text.endsWith(" rest"));
      assert.ok(steps >= at / (24 * 1024));
      const named = redact(`${before}${KEY} rest`).text;
      assert.equal(named, `${before}${stars(KEY)} rest`);
    }
});

test("any bytes keep their length, and JSON stays JSON", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      const work = redactBody(Buffer.from(bytes), []);
      let step = work.next();
      while (step.done !== true) step = work.next();
      assert.equal(step.value.length, bytes.length);
    }),
  );
  const part = fc.constantFrom(
    '"',
    "\\",
    "\n",
    "api_key",
    "=",
    ":",
    " ",
    KEY,
    "\u00e9",
    "password",
    "hunter2222",
    "'",
    ",",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), fc.nat(2), (parts, depth) => {
      let json = JSON.stringify({ text: parts.join("") });
      for (let deep = 0; deep < depth; deep += 1) json = JSON.stringify({ text: json });
      const { text } = redact(json);
      JSON.parse(text);
      assert.ok(!/(?<![\w-])sk-proj-Ab12/.test(text), text);
    }),
  );
});
