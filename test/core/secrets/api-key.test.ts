import assert from "node:assert/strict";
import { test } from "node:test";
import { findUnlikelyKey, parseApiKey, probableKey } from "../../../src/core/secrets/api-key.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

test("trims white space around a key", () => {
  for (const text of ["sk-1", "sk-1\n", "sk-1\r\n", "  sk-1\t\n\n", "\uFEFFsk-1"]) {
    assert.ok(parseApiKey(text).isSameAs(new Secret("sk-1")), JSON.stringify(text));
  }
});

test("accepts every printable ASCII character except the space in a key", () => {
  const characters = Array.from({ length: 0x7e - 0x21 + 1 }, (_, i) => String.fromCharCode(0x21 + i)).join(
    "",
  );
  assert.ok(parseApiKey(characters).isSameAs(new Secret(characters)));
});

test("accepts a key of at most 8192 characters", () => {
  assert.ok(parseApiKey("x".repeat(8192)).isSameAs(new Secret("x".repeat(8192))));
  assert.throws(() => parseApiKey("x".repeat(8193)), { message: "the key is longer than 8192 characters" });
});

test("refuses text that cannot be a key, with the reason and without repeating it", () => {
  const refused: [text: string, reason: string][] = [
    ["", "the key is empty"],
    [" \n", "the key is empty"],
    ["Bearer sk-secret", 'the key starts with "Bearer ", which belongs to a header'],
    ["bearer\tsk-secret", 'the key starts with "Bearer ", which belongs to a header'],
    ["sk-secret\nsk-secret", "the key contains line breaks"],
    ["sk-secret sk-secret", "the key contains spaces"],
    ['export OPENAI_API_KEY="sk-secret"', "the key has a name in front"],
    ["OPENAI_API_KEY = sk-secret", "the key has a name in front"],
    ["set -gx OPENAI_API_KEY sk-secret", "the key has a name in front"],
    ["x-api-key: sk-secret", "the key has a name in front"],
    ["sk-sécret", "the key contains characters that are not allowed in a header"],
    ["sk-secret\u0000", "the key contains characters that are not allowed in a header"],
    ["sk-\u001b[Dsecret", "the key contains characters that are not allowed in a header"],
  ];
  for (const [text, message] of refused) assert.throws(() => parseApiKey(text), { name: "Failure", message });
});

test("takes no key for a name with a value, a reference or a login", () => {
  for (const key of [
    "sk-proj-0123456789abcdef",
    "AIzaSyA1234567890abcdefghijklmnopqrstuvw",
    "/9j4AAQSkZJRgABAQAAAQABAAD",
    "xai0123456789abcdefgh==",
    "gsk_0123456789abcdef",
  ])
    assert.equal(findUnlikelyKey(key), null, key);
  for (const text of [
    "OPENAI_API_KEY=sk-0123456789abcdef",
    "x-api-key:sk-0123456789abcdef",
    "$OPENAI_API_KEY",
    "~/.keys/example",
    "https://api.example.com/v1",
    "sk-ant-oat01-0123456789abcdef",
  ])
    assert.notEqual(findUnlikelyKey(text), null, text);
});

test("recognizes a key that was pasted where something else was asked for", () => {
  for (const key of [
    "sk-proj-0123456789abcdef",
    "AIzaSyA1234567890abcdefghijklmnopqrstuvw",
    "0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef.abcdefgh",
    "eyJhbGci0iJI.eyJzdWIiOiIx.sflKxwRJSM",
  ])
    assert.ok(probableKey(`${key}\n`)?.isSameAs(new Secret(key)), key);
  for (const text of [
    "",
    "y",
    "perhaps",
    "OpenRouter",
    "1",
    "https://api.example.com/v1",
    "127.0.0.1:11434",
    "0123456789012345",
    "api.openai.com/v1",
    "openrouter.ai/api/v1",
    "localhost:19301/v1",
    "/usr/bin/python3",
  ])
    assert.equal(probableKey(text), null, text);
});
