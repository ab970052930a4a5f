import assert from "node:assert/strict";
import { test } from "node:test";
import { findSignatureFault } from "./sigv4-verifier.ts";

const KEYS = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: null,
};
const EXPECTED = { keys: KEYS, region: "us-east-1", service: "service", now: Date.UTC(2015, 7, 30, 12, 36) };
const HEADERS = ["Host", "example.amazonaws.com", "X-Amz-Date", "20150830T123600Z"];
const FORM = ["Content-Type", "application/x-www-form-urlencoded"];

const signed = (list: string, signature: string) => [
  "Authorization",
  `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${list}, Signature=${signature}`,
];

/** Of AWS's "Signature Version 4 Test Suite". */
const EXAMPLES = {
  "get-vanilla": {
    method: "GET",
    url: "/",
    body: Buffer.alloc(0),
    rawHeaders: [
      ...HEADERS,
      ...signed("host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    ],
  },
  "post-vanilla": {
    method: "POST",
    url: "/",
    body: Buffer.alloc(0),
    rawHeaders: [
      ...HEADERS,
      ...signed("host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    ],
  },
  "get-vanilla-query-order-key-case": {
    method: "GET",
    url: "/?Param2=value2&Param1=value1",
    body: Buffer.alloc(0),
    rawHeaders: [
      ...HEADERS,
      ...signed("host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    ],
  },
  "post-x-www-form-urlencoded": {
    method: "POST",
    url: "/",
    body: Buffer.from("Param1=value1"),
    rawHeaders: [
      ...FORM,
      ...HEADERS,
      ...signed(
        "content-type;host;x-amz-date",
        "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
      ),
    ],
  },
};

test("AWS's published examples are right, and nothing that differs from them", () => {
  for (const [name, example] of Object.entries(EXAMPLES)) {
    assert.equal(findSignatureFault(example, EXPECTED), null, name);
    const keys = { ...KEYS, secretAccessKey: "another" };
    assert.match(findSignatureFault(example, { ...EXPECTED, keys }) ?? "", /does not match/);
    for (const changed of [
      { ...example, url: "/other" },
      { ...example, method: "PUT" },
      { ...example, body: Buffer.from("other") },
    ])
      assert.match(findSignatureFault(changed, EXPECTED) ?? "", /does not match/);
    assert.match(
      findSignatureFault(example, { ...EXPECTED, now: EXPECTED.now + 301_000 }) ?? "",
      /^signed at/,
    );
    assert.match(findSignatureFault(example, { ...EXPECTED, region: "eu-west-1" }) ?? "", /^for service in/);
  }
});
