import assert from "node:assert/strict";
import { test } from "node:test";
import { noRoute, showPath } from "../../../src/core/refusals/routes.ts";
import { problemsOf, withUpstream } from "../../helpers/config/config-problems.ts";

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

for (const [method, url, entry] of [
  ["POST", "/v1/images/generations", { path: "/images/generations", dialect: "media" }],
  ["POST", "/v1/v1/audio/speech?x=1", { path: "/audio/speech", dialect: "media" }],
  [
    "POST",
    "/audio/transcriptions",
    { path: "/audio/transcriptions", dialect: "media", accepts: ["multipart"] },
  ],
  ["POST", "/v1/files", { path: "/files", accepts: ["multipart"] }],
  ["GET", "/v1/files/file-abc123/content", { path: "/files/{id}/content" }],
  ["DELETE", "/v1/files/file-abc123", { path: "/files/{id}" }],
  ["GET", "/v1/messages/batches/msgbatch_01HkcT/results", { path: "/messages/batches/{id}/results" }],
  ["POST", "/v1/anything/new", { path: "/anything/new" }],
  ["GET", `/v1/files/sk-${"a1".repeat(20)}`, { path: "/files/{id}" }],
] as const)
  test(`the refusal of ${method} ${url} names the whole entry that forwards it, and the configuration takes it`, () => {
    const { advice = "" } = noRoute(method, url);
    const route: unknown = JSON.parse(/add (\{.*\}) to "routes"/.exec(advice)?.[1] ?? "null");
    const auth = entry.path.startsWith("/messages") ? "x-api-key" : "bearer";
    assert.deepEqual(route, { method, auth, dialect: "none", ...entry });
    assert.deepEqual(problemsOf(withUpstream({ routes: [route] })), []);
  });

for (const [method, url] of [
  ["PUT", "/v1/files"],
  ["POST", "/v2/files"],
  ["GET", "/favicon.ico"],
  ["GET", "/"],
  ["GET", "/v1/../admin"],
  ["GET", "/v1/%2e%2e/admin"],
  ["GET", "/v1/files/file-1/parts/part-2"],
  ["POST", `/v1/${"x".repeat(200)}`],
] as const)
  test(`the refusal of ${method} ${url.slice(0, 40)} names no entry: none forwards it, or it would show a key`, () => {
    assert.doesNotMatch(noRoute(method, url).advice ?? "", /"routes"/);
  });
