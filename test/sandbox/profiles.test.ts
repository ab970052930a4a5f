import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../src/core/json.ts";
import { PROFILE_NAMES, type ProfileName } from "../../src/sandbox/profiles.ts";
import type { Sandbox } from "../../src/sandbox/server.ts";
import { chatRequest, messageRequest, openSandbox, readChunks, valueAt } from "./sandbox-client.ts";

const MODEL: Record<ProfileName, string> = {
  anthropic: "claude-sonnet-5",
  openai: "gpt-5",
  openrouter: "openai/gpt-5",
  ollama: "qwen3:8b",
};

/** A request that each route would accept, and the routes themselves. */
const BODIES: Record<string, (model: string) => JsonObject | undefined> = {
  "/models": () => undefined,
  "/models/{id}": () => undefined,
  "/responses": (model) => ({ model, input: "x" }),
  "/messages": (model) => messageRequest({ model }),
  "/messages/count_tokens": (model) => messageRequest({ model }),
  "/chat/completions": (model) => chatRequest({ model }),
  "/completions": (model) => ({ model, prompt: "x" }),
  "/embeddings": (model) => ({ model, input: "x" }),
  "/responses/compact": (model) => ({ model, input: "x" }),
  "/responses/input_tokens": (model) => ({ model, input: "x" }),
  "/alpha/search": (model) => ({ model, commands: { search_query: [{ q: "x" }] } }),
  "/moderations": () => ({ input: "x" }),
  "/rerank": (model) => ({ model, query: "x", documents: ["x", "y"] }),
};

/** The routes of each service, and the header that each wants its key in. */
const ROUTES: Record<ProfileName, Record<string, "bearer" | "x-api-key" | "none">> = {
  anthropic: {
    "/models": "x-api-key",
    "/models/{id}": "x-api-key",
    "/messages": "x-api-key",
    "/messages/count_tokens": "x-api-key",
  },
  openai: {
    "/models": "bearer",
    "/models/{id}": "bearer",
    "/responses": "bearer",
    "/responses/compact": "bearer",
    "/responses/input_tokens": "bearer",
    "/alpha/search": "bearer",
    "/moderations": "bearer",
    "/chat/completions": "bearer",
    "/completions": "bearer",
    "/embeddings": "bearer",
  },
  openrouter: {
    "/models": "none",
    "/responses": "bearer",
    "/messages": "bearer",
    "/chat/completions": "bearer",
    "/completions": "bearer",
    "/embeddings": "bearer",
  },
  ollama: { "/models": "none", "/chat/completions": "none", "/completions": "none", "/embeddings": "none" },
};

const SECRETS = PROFILE_NAMES.map((name) => `sk-sandbox-${name}`);

/** The credentials that a request may bring: none, or a service's key in either header. */
const CREDENTIALS: { scheme: "bearer" | "x-api-key" | "none"; secret: string | null }[] = [
  { scheme: "none", secret: null },
  ...SECRETS.flatMap((secret) => [
    { scheme: "bearer" as const, secret },
    { scheme: "x-api-key" as const, secret },
  ]),
];

function send(sandbox: Sandbox, path: string, body: JsonObject | undefined, headers = {}): Promise<Response> {
  return fetch(sandbox.baseUrl + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { "anthropic-version": "2023-06-01", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

function credentialHeaders({ scheme, secret }: (typeof CREDENTIALS)[number]): Record<string, string> {
  if (secret === null) return {};
  return scheme === "bearer" ? { authorization: `Bearer ${secret}` } : { "x-api-key": secret };
}

/** Returns headers with the sandbox's own key, where it has one. */
function ownKey(sandbox: Sandbox, scheme: "bearer" | "x-api-key" = "bearer"): Record<string, string> {
  return credentialHeaders({ scheme, secret: sandbox.keys[0]?.secret ?? null });
}

for (const name of PROFILE_NAMES) {
  test(`${name} has its routes and no others, and accepts its own key in the right header only`, async (t) => {
    const sandbox = await openSandbox(t, { profile: name });
    for (const [path, bodyFor] of Object.entries(BODIES)) {
      const scheme = ROUTES[name][path];
      for (const credential of CREDENTIALS) {
        const isRight = credential.scheme === scheme && credential.secret === `sk-sandbox-${name}`;
        const expected = scheme === undefined ? 404 : isRight || scheme === "none" ? 200 : 401;
        const response = await send(
          sandbox,
          path.replace("{id}", MODEL[name]),
          bodyFor(MODEL[name]),
          credentialHeaders(credential),
        );
        const body = await response.text();
        assert.equal(response.status, expected, `${path} ${JSON.stringify(credential)}: ${body}`);
        for (const secret of SECRETS) assert.ok(!body.includes(secret));
      }
    }
  });

  test(`${name} knows every model that it lists, and no other service's`, async (t) => {
    const sandbox = await openSandbox(t, { profile: name });
    const path = name === "anthropic" ? "/messages" : "/chat/completions";
    const headers = ownKey(sandbox, name === "anthropic" ? "x-api-key" : "bearer");
    const list = await (await send(sandbox, "/models?limit=1000", undefined, headers)).json();
    const listed = (valueAt(list, "data") as JsonObject[]).map(({ id }) => String(id));
    assert.ok(listed.includes(MODEL[name]));
    for (const model of new Set([...listed, ...Object.values(MODEL)])) {
      const response = await send(sandbox, path, BODIES[path]?.(model), headers);
      assert.equal(response.ok, listed.includes(model), model);
    }
  });
}

/** The body of a 401 and of an unknown model on each service, without what differs from request to request. */
const ERRORS: Record<
  ProfileName,
  { unauthorized: JsonObject; unknownModel: [status: number, error: JsonObject] }
> = {
  anthropic: {
    unauthorized: { type: "authentication_error", message: "the x-api-key header is missing" },
    unknownModel: [404, { type: "not_found_error", message: "model: nobody" }],
  },
  openai: {
    unauthorized: {
      message: "the authorization header is missing",
      type: "invalid_request_error",
      param: null,
      code: "invalid_api_key",
    },
    unknownModel: [
      404,
      {
        message: "The model `nobody` does not exist or you do not have access to it.",
        type: "invalid_request_error",
        param: "model",
        code: "model_not_found",
      },
    ],
  },
  openrouter: {
    unauthorized: { message: "the authorization header is missing", code: 401 },
    unknownModel: [400, { message: "nobody is not a valid model ID", code: 400 }],
  },
  ollama: {
    unauthorized: {},
    unknownModel: [
      404,
      { message: "model 'nobody' not found", type: "not_found_error", param: null, code: null },
    ],
  },
};

for (const name of PROFILE_NAMES) {
  test(`${name} writes errors in its own shape, under its own request id`, async (t) => {
    const sandbox = await openSandbox(t, { profile: name });
    const path = name === "anthropic" ? "/messages" : "/chat/completions";
    const { unauthorized, unknownModel } = ERRORS[name];
    if (name !== "ollama") {
      const refused = await send(sandbox, path, BODIES[path]?.(MODEL[name]));
      assert.equal(refused.status, 401);
      assert.deepEqual(valueAt(await refused.json(), "error"), unauthorized);
    }
    const headers = ownKey(sandbox, name === "anthropic" ? "x-api-key" : "bearer");
    const response = await send(sandbox, path, BODIES[path]?.("nobody"), headers);
    assert.deepEqual([response.status, valueAt(await response.json(), "error")], unknownModel);
    const ids = ["request-id", "x-request-id", "x-generation-id"].filter((id) => response.headers.has(id));
    const own = {
      anthropic: ["request-id"],
      openai: ["x-request-id"],
      openrouter: ["x-generation-id"],
      ollama: [],
    };
    assert.deepEqual(ids, own[name]);
  });
}

test("openrouter writes errors below /messages in Anthropic's shape", async (t) => {
  const sandbox = await openSandbox(t, { profile: "openrouter" });
  const response = await send(sandbox, "/messages", messageRequest(), ownKey(sandbox));
  assert.equal(response.status, 404);
  assert.equal(valueAt(await response.json(), "error", "type"), "not_found_error");
});

const first = async (sandbox: Sandbox, query = "") => {
  const headers = ownKey(sandbox, sandbox.profile.vendor === "anthropic" ? "x-api-key" : "bearer");
  return (await (await send(sandbox, `/models${query}`, undefined, headers)).json()) as JsonObject;
};

test("each service lists its models in its own shape", async (t) => {
  const members = async (profile: ProfileName) => {
    const list = await first(await openSandbox(t, { profile }));
    return [Object.keys(list), Object.keys(valueAt(list, "data", 0) as object)];
  };
  const openai = [
    ["object", "data"],
    ["id", "object", "created", "owned_by"],
  ];
  assert.deepEqual(await members("openai"), openai);
  assert.deepEqual(await members("ollama"), openai);
  assert.deepEqual(await members("anthropic"), [
    ["data", "has_more", "first_id", "last_id"],
    ["type", "id", "display_name", "created_at"],
  ]);
  const [list, entry] = await members("openrouter");
  assert.deepEqual(list, ["data"]);
  assert.deepEqual(entry?.slice(0, 4), ["id", "canonical_slug", "name", "created"]);
});

test("anthropic lists its models in pages, after or before an id", async (t) => {
  const groups = { all: ["a", "b", "c", "d", "e"] };
  const sandbox = await openSandbox(t, { profile: "anthropic", groups });
  const pageOf = async (query: string) => {
    const { data, has_more } = await first(sandbox, query);
    return [(data as JsonObject[]).map(({ id }) => id).join(""), has_more];
  };
  assert.deepEqual(await pageOf("?limit=2"), ["ab", true]);
  assert.deepEqual(await pageOf("?limit=2&after_id=b"), ["cd", true]);
  assert.deepEqual(await pageOf("?limit=2&after_id=d"), ["e", false]);
  assert.deepEqual(await pageOf("?limit=2&before_id=d"), ["bc", true]);
  assert.deepEqual(await pageOf(""), ["abcde", false]);
});

test("openrouter streams usage unasked in the finish chunk, between comments; ollama only when asked, without nulls", async (t) => {
  const stream = async (profile: ProfileName, more: JsonObject) => {
    const sandbox = await openSandbox(t, { profile });
    const request = chatRequest({ model: MODEL[profile], stream: true, ...more });
    return (await send(sandbox, "/chat/completions", request, ownKey(sandbox))).text();
  };
  const brokered = await stream("openrouter", {});
  assert.match(brokered, /^: SANDBOX PROCESSING\n\n/);
  assert.match(brokered, /"finish_reason":"stop"\}\],"usage":\{[^\n]*\n\n[^\n]*\n\ndata: \[DONE\]\n\n$/);
  const silent = readChunks(await stream("ollama", {}));
  assert.ok(silent.every((chunk) => valueAt(chunk, "usage") === undefined));
  const asked = readChunks(await stream("ollama", { stream_options: { include_usage: true } }));
  assert.equal(valueAt(asked[0], "usage"), undefined);
  assert.deepEqual(valueAt(asked.at(-2), "choices"), []);
  assert.equal(valueAt(asked.at(-2), "usage", "total_tokens"), 11);
});

test("the books of a service without keys tell whether a request brought one all the same", async (t) => {
  const sandbox = await openSandbox(t, { profile: "ollama" });
  const request = chatRequest({ model: MODEL.ollama });
  await send(sandbox, "/chat/completions", request);
  await send(sandbox, "/chat/completions", request, { authorization: "Bearer sk-sandbox-openai" });
  assert.deepEqual(
    sandbox.executions().map(({ key }) => key),
    ["none", "unknown"],
  );
});
