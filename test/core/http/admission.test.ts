import assert from "node:assert/strict";
import { test } from "node:test";
import { admit, refuseBody } from "../../../src/core/http/admission.ts";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";

const JSON_TYPE = ["content-type", "application/json"];
const HOST = ["host", "127.0.0.1:8655"];
const rules = { allowedHosts: ["docker.internal:8655"], allowedOrigins: ["vscode-webview://abc"] };

function codeFor(raw: string[], { httpVersion = "1.1" } = {}): string | null {
  const request = { httpVersion, headers: new HeaderIndex(raw), localPort: 8655 };
  return admit(request, rules)?.code ?? null;
}

for (const host of [
  "127.0.0.1:8655",
  "localhost:8655",
  "LOCALHOST:8655",
  "[::1]:8655",
  "docker.internal:8655",
]) {
  test(`admits the Host ${host}`, () => assert.equal(codeFor(["Host", host, ...JSON_TYPE]), null));
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
  test(`refuses the Host ${JSON.stringify(host)}`, () => {
    assert.equal(codeFor(["Host", host, ...JSON_TYPE]), "host_not_allowed");
  });
}

test("refuses two Host lines, even with the same value", () => {
  assert.equal(codeFor([...HOST, ...HOST, ...JSON_TYPE]), "host_not_allowed");
  assert.equal(codeFor([...HOST, "host", "evil.example", ...JSON_TYPE]), "host_not_allowed");
});

test("checks the Host before anything else", () => {
  assert.equal(codeFor(["host", "evil", "origin", "x"], { httpVersion: "1.0" }), "host_not_allowed");
});

for (const header of [
  ["origin", "https://evil.example"],
  ["origin", "null"],
  ["origin", "http://127.0.0.1:8655"],
  ["sec-fetch-site", "cross-site"],
  ["sec-fetch-site", "same-site"],
  ["referer", "https://evil.example/"],
  ["referer", "http://127.0.0.1:8655.evil.example/"],
]) {
  test(`refuses ${header.join(": ")} as a browser's`, () => {
    assert.equal(codeFor([...HOST, ...JSON_TYPE, ...header]), "origin_not_allowed");
  });
}

for (const header of [
  ["sec-fetch-mode", "cors"],
  ["anthropic-dangerous-direct-browser-access", "true"],
  ["sec-fetch-site", "none"],
  ["sec-fetch-site", "same-origin"],
  ["http-referer", "https://kilocode.ai"],
]) {
  test(`admits ${header.join(": ")}, which real tools send`, () => {
    assert.equal(codeFor([...HOST, ...JSON_TYPE, ...header]), null);
  });
}

test("admits a listed origin with the headers that its browser adds", () => {
  const headers = ["origin", "vscode-webview://abc", "sec-fetch-site", "cross-site"];
  assert.equal(codeFor([...HOST, ...JSON_TYPE, ...headers]), null);
});

test("refuses two Origin lines, even when the first is listed", () => {
  const headers = ["origin", "vscode-webview://abc", "origin", "https://evil.example"];
  assert.equal(codeFor([...HOST, ...JSON_TYPE, ...headers]), "origin_not_allowed");
});

const FORM = ["content-type", "multipart/form-data; boundary=x", "content-length", "9"];

function bodyCode(raw: string[], accepts: ("json" | "empty" | "multipart")[] = ["json"]): string | null {
  return refuseBody(new HeaderIndex(raw), "/v1/responses", { accepts })?.code ?? null;
}

for (const type of [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "application/jsonx",
  "",
]) {
  test(`refuses a POST with content type ${JSON.stringify(type)}, with a body and without`, () => {
    assert.equal(bodyCode(["content-type", type, "content-length", "9"]), "content_type");
    assert.equal(bodyCode(["content-type", type]), "content_type");
  });
}

test("refuses a POST without a content type, and takes JSON on every route", () => {
  assert.equal(bodyCode([]), "content_type");
  for (const type of ["application/json", "Application/JSON ; charset=utf-8"])
    assert.equal(bodyCode(["content-type", type, "content-length", "9"], []), null);
});

test("takes a form, and a POST without a body, on a route that lists it, and nothing else there", () => {
  assert.equal(bodyCode(FORM, ["json", "multipart"]), null);
  assert.equal(bodyCode([], ["json", "empty"]), null);
  assert.equal(bodyCode(["content-length", "0"], ["empty"]), null);
  assert.equal(bodyCode([], ["multipart"]), "content_type");
  assert.equal(bodyCode(FORM, ["empty"]), "content_type");
  assert.equal(bodyCode(["transfer-encoding", "chunked"], ["empty", "multipart"]), "content_type");
  assert.equal(
    bodyCode(["content-type", "text/plain", "content-length", "9"], ["empty", "multipart"]),
    "content_type",
  );
});

for (const header of [
  ["origin", "vscode-webview://abc"],
  ["referer", "http://127.0.0.1:8655/"],
  ["sec-fetch-site", "none"],
  ["sec-fetch-site", "same-origin"],
])
  test(`a form, or a POST without a body, with ${header.join(": ")} is refused on a route that lists it`, () => {
    assert.equal(bodyCode([...FORM, ...header], ["multipart"]), "origin_not_allowed");
    assert.equal(bodyCode(header, ["empty"]), "origin_not_allowed");
  });

test("admits a content type with parameters, and refuses two content types", () => {
  assert.equal(codeFor([...HOST, "content-type", "application/json; charset=utf-8"]), null);
  assert.equal(codeFor([...HOST, ...JSON_TYPE, "Content-Type", "text/plain"]), "bad_request");
});

for (const name of ["content-length", "transfer-encoding", "expect", "authorization", "x-api-key"]) {
  test(`refuses two ${name} lines`, () => {
    assert.equal(codeFor([...HOST, ...JSON_TYPE, name, "1", name, "1"]), "bad_request");
  });
}

test("refuses a transfer-encoding other than chunked, and any beside a content-length", () => {
  assert.equal(codeFor([...HOST, ...JSON_TYPE, "transfer-encoding", "gzip, chunked"]), "bad_request");
  assert.equal(
    codeFor([...HOST, ...JSON_TYPE, "transfer-encoding", "chunked", "content-length", "3"]),
    "bad_request",
  );
  assert.equal(codeFor([...HOST, ...JSON_TYPE, "transfer-encoding", "chunked"]), null);
});

test("refuses HTTP/1.0, where a truncated response would look complete", () => {
  assert.equal(codeFor([...HOST, ...JSON_TYPE], { httpVersion: "1.0" }), "http_version");
});
