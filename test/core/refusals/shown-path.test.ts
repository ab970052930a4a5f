import assert from "node:assert/strict";
import { test } from "node:test";
import { findOptionalRoute, showPath } from "../../../src/core/refusals/routes.ts";

for (const [url, shown] of [
  ["/v1/chat/completions", "/v1/chat/completions"],
  ["/v1/foo?key=secret&x=1", "/v1/foo"],
  ["/v1/foo#part", "/v1/foo"],
  ["/v1/sk-abc123/x", "/v1/[hidden]/x"],
  [`/v1/${"k".repeat(40)}`, "/v1/[hidden]"],
  ["/v1/\u009b2J\u202e", "/v1/?2J?"],
  [`/${"ab/".repeat(100)}`, `/${"ab/".repeat(100).slice(0, 79)}...`],
  ["http://ada:secret@evil.example/v1/models", "an invalid path"],
  ["/<script>alert(1)</script>", "/?script?alert?1??/script?"],
  ["*", "an invalid path"],
  ["", "an invalid path"],
] as const) {
  test(`${JSON.stringify(url.slice(0, 50))} is shown without query, keys, controls and its end`, () => {
    assert.equal(showPath(url), shown);
  });
}

test("the JSON endpoints of other APIs can be forwarded, under every prefix, with POST only", () => {
  for (const path of ["/moderations", "/rerank", "/images/generations", "/audio/speech"]) {
    for (const prefix of ["", "/v1", "/v1/v1"]) assert.equal(findOptionalRoute("POST", prefix + path), path);
    assert.equal(findOptionalRoute("GET", path), null);
  }
  for (const path of ["/v1/moderations/", "/v2/moderations", "/v1/files", "/v1/audio/transcriptions", "/"])
    assert.equal(findOptionalRoute("POST", path), null);
});
