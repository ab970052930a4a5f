import assert from "node:assert/strict";
import { test } from "node:test";
import { buildRouteTable, isProbe, parseTarget, routesOf } from "../../../src/core/http/routes.ts";
import { upstreamAt } from "../../helpers/gate/gate.ts";

const upstream = upstreamAt("https://api.example.com/v1", {
  routes: [
    {
      method: "GET",
      path: "/responses/{id}",
      auth: "bearer",
      dialect: "responses",
      spend: "attach_by_response_id",
    },
    { method: "POST", path: "/chat/completions", auth: "bearer", dialect: "none", spend: "never" },
  ],
});
const table = buildRouteTable(routesOf(upstream));

function routeOf(method: string, path: string): string | null {
  const found = table.find(method, path);
  if (found === null) return null;
  return "allow" in found ? `allow ${found.allow}` : found.path;
}

for (const prefix of ["", "/v1", "/v1/v1"]) {
  test(`the routes are found under the alias "${prefix}"`, () => {
    assert.equal(routeOf("GET", `${prefix}/models`), "/models");
    assert.equal(routeOf("POST", `${prefix}/responses`), "/responses");
    assert.equal(routeOf("POST", `${prefix}/messages`), "/messages");
    assert.equal(routeOf("POST", `${prefix}/messages/count_tokens`), "/messages/count_tokens");
    assert.equal(routeOf("POST", `${prefix}/chat/completions`), "/chat/completions");
    assert.equal(routeOf("GET", `${prefix}/responses/resp_1`), "/responses/resp_1");
  });
}

test("a wrong method is told the right one", () => {
  assert.equal(routeOf("GET", "/v1/messages"), "allow POST");
  assert.equal(routeOf("DELETE", "/v1/models"), "allow GET");
  assert.equal(routeOf("POST", "/v1/responses/resp_1"), "allow GET");
});

for (const path of [
  "/v1/v1/v1/messages",
  "/v1/messages/",
  "/v1//messages",
  "//v1/messages",
  "/v1/../admin",
  "/v1/%2e%2e/admin",
  "/v1/messages%2f..%2fmodels",
  "/v1/messages;x",
  "/V1/messages",
  "/v1/Messages",
  "/v1/responses/a/b",
  "/v1/responses/..",
  "/v1/responses/",
  "/v1/messages\\x",
  "/v2/messages",
]) {
  test(`${path} has no route`, () => {
    assert.equal(routeOf("POST", path), null);
    assert.equal(routeOf("GET", path), null);
  });
}

test("a tool mark is taken off the path, and put in lower case", () => {
  assert.deepEqual(parseTarget("/t/Codex/v1/responses?a=b"), {
    mark: "codex",
    path: "/v1/responses",
    query: "?a=b",
  });
  assert.deepEqual(parseTarget("/t/codex"), { mark: "codex", path: "/", query: "" });
});

test("only one tool mark is taken off", () => {
  assert.equal(parseTarget("/t/a/t/b/v1/models")?.path, "/t/b/v1/models");
});

for (const target of [
  "http://evil.example/v1/models",
  "*",
  "",
  "v1/models",
  "/v1/models#x",
  "/v1/mod els",
  "/v1/models?a b",
  "/v1/m\u00f6dels",
  "/v1/models\u0000",
]) {
  test(`the target ${JSON.stringify(target)} is not in origin form`, () => {
    assert.equal(parseTarget(target), null);
  });
}

test("a mark that cannot be a tool's name is left in the path, where no route matches", () => {
  assert.deepEqual(parseTarget("/t/.../v1/models"), { mark: null, path: "/t/.../v1/models", query: "" });
  const path = `/t/tollkeeper-zed-${"a".repeat(43)}/v1/models`;
  assert.deepEqual(parseTarget(`${path}?a=b`), { mark: null, path, query: "?a=b" });
});

test("HEAD / and HEAD /api/hello are probes, nothing else is", () => {
  assert.ok(isProbe("HEAD", "/"));
  assert.ok(isProbe("HEAD", "/api/hello"));
  assert.ok(!isProbe("GET", "/"));
  assert.ok(!isProbe("HEAD", "/v1/models"));
});
