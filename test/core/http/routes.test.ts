import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildRouteTable,
  guessApi,
  isPageRequest,
  isProbe,
  lacksToolName,
  parseRequestTarget,
} from "../../../src/core/http/routes.ts";
import { listRoutes } from "../../../src/core/http/built-in-routes.ts";
import { upstreamAt } from "../../helpers/gate/gate.ts";

const upstream = upstreamAt("https://api.example.com/v1", {
  routes: [
    {
      method: "GET",
      path: "/responses/{id}",
      auth: "bearer",
      dialect: "responses",
      spend: "attach_by_response_id",
      accepts: ["json"],
    },
    {
      method: "POST",
      path: "/audio/speech",
      auth: "bearer",
      dialect: "none",
      spend: "never",
      accepts: ["json"],
    },
  ],
});
const table = buildRouteTable(listRoutes(upstream));

function routeOf(method: string, path: string): string | null {
  const found = table.find(method, path);
  if (found === null) return null;
  return "allow" in found ? `allow ${found.allow}` : found.path;
}

for (const prefix of ["", "/v1", "/v1/v1"]) {
  test(`finds the routes under the prefix "${prefix}"`, () => {
    assert.equal(routeOf("GET", `${prefix}/models`), "/models");
    assert.equal(routeOf("POST", `${prefix}/responses`), "/responses");
    assert.equal(routeOf("POST", `${prefix}/messages`), "/messages");
    assert.equal(routeOf("POST", `${prefix}/messages/count_tokens`), "/messages/count_tokens");
    for (const path of [
      "/chat/completions",
      "/completions",
      "/embeddings",
      "/moderations",
      "/rerank",
      "/audio/speech",
    ])
      assert.equal(routeOf("POST", prefix + path), path);
    assert.equal(routeOf("GET", `${prefix}/responses/resp_1`), "/responses/resp_1");
  });
}

const LIVE = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

for (const [path, api] of [
  ["/v1/messages", "messages"],
  ["/v1/messages/batches", "messages"],
  ["/v1/responses/resp_1", "responses"],
  ["/v1/chat/completions?api-version=1", "chat"],
  ["/completions", "chat"],
  ["/v1/v1/embeddings", "chat"],
  ["/", "responses"],
  ["/v1/responses?after=/messages", "responses"],
  ["/t/a/v1/models/gemini-3:generateContent?key=k", "gemini"],
  ["/model/m/converse?x=1", "bedrock"],
  [`${LIVE}?key=k`, "gemini"],
  [`/t/voice${LIVE}`, "gemini"],
  [`/t/voice/${LIVE}?key=k`, "gemini"],
  [`/t/voice${LIVE}?key=k d`, "gemini"],
] as const)
  test(`${path} seems to belong to ${api}`, () => assert.equal(guessApi(path), api));

test("returns the allowed method for a wrong one", () => {
  assert.equal(routeOf("GET", "/v1/messages"), "allow POST");
  assert.equal(routeOf("DELETE", "/v1/models"), "allow GET");
  assert.equal(routeOf("POST", "/v1/responses/resp_1"), "allow DELETE, GET");
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
  "/v1/images/generations",
  "/v1/videos",
]) {
  test(`finds no route for ${path}`, () => {
    assert.equal(routeOf("POST", path), null);
    assert.equal(routeOf("GET", path), null);
  });
}

test("splits the tool mark off the path, and lower-cases it", () => {
  assert.deepEqual(parseRequestTarget("/t/Codex/v1/responses?a=b"), {
    toolMark: "codex",
    path: "/v1/responses",
    query: "?a=b",
  });
  assert.deepEqual(parseRequestTarget("/t/codex"), { toolMark: "codex", path: "/", query: "" });
});

test("splits off only one tool mark", () => {
  assert.equal(parseRequestTarget("/t/a/t/b/v1/models")?.path, "/t/b/v1/models");
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
  test(`refuses the target ${JSON.stringify(target)}, which is not in origin form`, () => {
    assert.equal(parseRequestTarget(target), null);
  });
}

test("leaves a mark that cannot be a tool's name in the path, where no route matches", () => {
  assert.deepEqual(parseRequestTarget("/t/.../v1/models"), {
    toolMark: null,
    path: "/t/.../v1/models",
    query: "",
  });
  const path = `/t/tollkeeper-zed-${"a".repeat(43)}/v1/models`;
  assert.deepEqual(parseRequestTarget(`${path}?a=b`), { toolMark: null, path, query: "?a=b" });
});

test("recognizes HEAD / and HEAD /api/hello as probes, and nothing else", () => {
  assert.ok(isProbe("HEAD", "/"));
  assert.ok(isProbe("HEAD", "/api/hello"));
  assert.ok(!isProbe("GET", "/"));
  assert.ok(!isProbe("HEAD", "/v1/models"));
});

test("recognizes GET / of a client that takes HTML as a request for the page, and nothing else", () => {
  assert.ok(isPageRequest("GET", "/", "text/html,*/*;q=0.8"));
  assert.ok(isPageRequest("GET", "/", "TEXT/HTML"));
  for (const accept of [undefined, "*/*", "application/json", "text/htmlx"])
    assert.ok(!isPageRequest("GET", "/", accept), accept);
  assert.ok(!isPageRequest("HEAD", "/", "text/html"));
  assert.ok(!isPageRequest("GET", "/v1/models", "text/html"));
});

for (const [target, isLacking] of [
  ["/t/messages", true],
  ["/t/chat/completions", true],
  ["/t/messages/count_tokens", true],
  ["/t/rerank", true],
  ["/t/alpha/search", true],
  ["/t/audio/speech", true],
  ["/t/audio/v1/audio/speech", false],
  ["/t/images/v1/messages", false],
  ["/t/codex/v1/messages", false],
  ["/t/messages/v1/messages", false],
  ["/t/chat/v1/chat/completions", false],
  ["/v1/messages", false],
] as const)
  test(`${target} ${isLacking ? "lacks" : "does not lack"} the name of a tool`, () => {
    const parsed = parseRequestTarget(target);
    assert.equal(parsed !== null && lacksToolName("POST", parsed, table), isLacking);
  });

test("the version of an API is no tool's name, so that a forgotten name is not taken for a tool", () => {
  for (const version of ["v1", "V1", "v1beta", "v2alpha1"])
    assert.deepEqual(parseRequestTarget(`/t/${version}/messages`), {
      toolMark: null,
      path: `/t/${version}/messages`,
      query: "",
    });
  assert.equal(parseRequestTarget("/t/v1-tool/v1/messages")?.toolMark, "v1-tool");
});
