import assert from "node:assert/strict";
import { test } from "node:test";
import { admit } from "../../../src/core/http/admission.ts";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";

const JSON_TYPE = ["content-type", "application/json"];
const HOST = ["host", "127.0.0.1:8655"];
const rules = { allowedHosts: ["docker.internal:8655"], allowedOrigins: ["vscode-webview://abc"] };

function judge(raw: string[], { method = "POST", httpVersion = "1.1" } = {}): string | null {
  const arrival = { method, httpVersion, headers: new HeaderIndex(raw), localPort: 8655 };
  return admit(arrival, rules)?.code ?? null;
}

for (const host of [
  "127.0.0.1:8655",
  "localhost:8655",
  "LOCALHOST:8655",
  "[::1]:8655",
  "docker.internal:8655",
]) {
  test(`Host ${host} is let in`, () => assert.equal(judge(["Host", host, ...JSON_TYPE]), null));
}

for (const host of [
  "evil.example",
  "127.0.0.1",
  "127.0.0.1:8656",
  "127.evil.com:8655",
  "localhost.evil.com:8655",
  "127.0.0.1:8655.evil.com",
  "0.0.0.0:8655",
  "[::]:8655",
  "2130706433:8655",
  "127.1:8655",
  ":8655",
  "",
  "localhost:8655 ",
  "user@localhost:8655",
]) {
  test(`Host ${JSON.stringify(host)} is refused`, () => {
    assert.equal(judge(["Host", host, ...JSON_TYPE]), "host_not_allowed");
  });
}

test("two Host lines are refused, even of the same value", () => {
  assert.equal(judge([...HOST, ...HOST, ...JSON_TYPE]), "host_not_allowed");
  assert.equal(judge([...HOST, "host", "evil.example", ...JSON_TYPE]), "host_not_allowed");
});

test("the Host is judged before all else", () => {
  assert.equal(judge(["host", "evil", "origin", "x"], { httpVersion: "1.0" }), "host_not_allowed");
});

for (const mark of [
  ["origin", "https://evil.example"],
  ["origin", "null"],
  ["origin", "http://127.0.0.1:8655"],
  ["sec-fetch-site", "cross-site"],
  ["sec-fetch-site", "same-site"],
  ["referer", "https://evil.example/"],
  ["referer", "http://127.0.0.1:8655.evil.example/"],
]) {
  test(`${mark.join(": ")} is a browser's, and refused`, () => {
    assert.equal(judge([...HOST, ...JSON_TYPE, ...mark]), "origin_not_allowed");
  });
}

for (const mark of [
  ["sec-fetch-mode", "cors"],
  ["anthropic-dangerous-direct-browser-access", "true"],
  ["sec-fetch-site", "none"],
  ["sec-fetch-site", "same-origin"],
  ["http-referer", "https://kilocode.ai"],
]) {
  test(`${mark.join(": ")} means nothing, real tools send it`, () => {
    assert.equal(judge([...HOST, ...JSON_TYPE, ...mark]), null);
  });
}

test("a listed origin is let in, with the marks that its browser adds", () => {
  const marks = ["origin", "vscode-webview://abc", "sec-fetch-site", "cross-site"];
  assert.equal(judge([...HOST, ...JSON_TYPE, ...marks]), null);
});

test("two Origin lines are refused, even when the first is listed", () => {
  const marks = ["origin", "vscode-webview://abc", "origin", "https://evil.example"];
  assert.equal(judge([...HOST, ...JSON_TYPE, ...marks]), "origin_not_allowed");
});

for (const type of [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "application/jsonx",
  "",
]) {
  test(`a POST of type ${JSON.stringify(type)} is refused`, () => {
    assert.equal(judge([...HOST, "content-type", type]), "content_type");
  });
}

test("a POST without a content type is refused, a GET without one is not", () => {
  assert.equal(judge(HOST), "content_type");
  assert.equal(judge(HOST, { method: "GET" }), null);
});

test("a content type with parameters is fine, two content types are not", () => {
  assert.equal(judge([...HOST, "content-type", "application/json; charset=utf-8"]), null);
  assert.equal(judge([...HOST, ...JSON_TYPE, "Content-Type", "text/plain"]), "bad_request");
});

for (const name of ["content-length", "transfer-encoding", "expect", "authorization", "x-api-key"]) {
  test(`two ${name} lines are refused`, () => {
    assert.equal(judge([...HOST, ...JSON_TYPE, name, "1", name, "1"]), "bad_request");
  });
}

test("any transfer-encoding but one chunked is refused, and one beside a content-length", () => {
  assert.equal(judge([...HOST, ...JSON_TYPE, "transfer-encoding", "gzip, chunked"]), "bad_request");
  assert.equal(
    judge([...HOST, ...JSON_TYPE, "transfer-encoding", "chunked", "content-length", "3"]),
    "bad_request",
  );
  assert.equal(judge([...HOST, ...JSON_TYPE, "transfer-encoding", "chunked"]), null);
});

test("HTTP/1.0 is refused: a broken answer to it would look complete", () => {
  assert.equal(judge([...HOST, ...JSON_TYPE], { httpVersion: "1.0" }), "http_version");
});
