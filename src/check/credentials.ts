import { keyRefOf, upstreamOf, type Auth, type Upstream } from "../core/config/config.ts";
import { type Check, expect, Fault, STOP, type Installation } from "./check.ts";
import { type Ask, valuesOf } from "./client.ts";
import type { Seen } from "./echo.ts";
import { exchange, post } from "./send.ts";
import { randomWord } from "./samples.ts";

/** Where clients put what they take for their credential, and a few spellings that some servers read as the same. */
const CLIENT_CREDENTIALS = [
  "authorization",
  "x-api-key",
  "api-key",
  "x_api_key",
  "x-goog-api-key",
  "proxy-authorization",
  "cookie",
  "chatgpt-account-id",
];

/** A request that should carry `auth`, once it has passed. */
interface Expected {
  request: Ask;
  auth: Auth;
}

const credentials: Check = {
  name: "credentials",
  proves: "what clients send as credential stays here; each route carries our key, once, in its own way",
  remedy: `the key, or a tool's own credential, would go where it should not; ${STOP}`,
  async run(on) {
    const upstream = upstreamFor(on, "");
    for (const { request, auth } of routesOf(upstream)) {
      const word = randomWord();
      const headers = CLIENT_CREDENTIALS.map((name) => [name, `Bearer ${word}`] as const);
      const { seen } = await exchange(on, { ...request, headers });
      const leaked = seen.headers.findIndex((text) => text.includes(word));
      expect(leaked === -1, `${request.path}: the client's ${seen.headers[leaked - 1]} reached the upstream`);
      expectKey(on, seen, auth, upstream.key);
    }
  },
};

/** The service's four routes (DESIGN section 2), and those that the configuration switches on. */
function routesOf(upstream: Upstream): Expected[] {
  const extra = upstream.routes.map(({ method, path, auth }): Expected => {
    const at = `/v1${path.replace("{id}", "id_1")}`;
    return { request: method === "POST" ? post(at) : { method, path: at }, auth };
  });
  return [
    { request: { method: "GET", path: "/v1/models" }, auth: "bearer" },
    { request: post("/v1/responses"), auth: "bearer" },
    { request: post("/v1/messages"), auth: "x-api-key" },
    { request: post("/v1/messages/count_tokens"), auth: upstream.countTokensAuth },
    ...extra,
  ];
}

const tools: Check = {
  name: "tools",
  proves: "each tool of the configuration reaches its own upstream with its own key, any other the default's",
  remedy: `one tool's spending would be booked on another's key; look at: tollkeeper config check`,
  async run(on) {
    for (const tool of [randomWord(), ...Object.keys(on.config.tools)]) {
      const upstream = upstreamFor(on, tool);
      const { seen } = await exchange(on, post(`/t/${tool}/v1/messages`));
      const wanted = `${upstream.basePath}/messages`;
      expect(seen.path === wanted, `${tool}: asked the upstream for ${seen.path} instead of ${wanted}`);
      const key = Object.hasOwn(on.config.tools, tool) ? on.config.tools[tool]?.key : null;
      expectKey(on, seen, "x-api-key", keyRefOf(upstream, key ?? null).name);
    }
  },
};

function upstreamFor({ config }: Installation, tool: string): Upstream {
  const upstream = upstreamOf(config, tool);
  if (upstream === null) throw new Fault("the configuration has no upstream");
  return upstream;
}

/** @throws Fault unless the key called `name` is there once, and no other credential */
function expectKey({ keyNamed }: Installation, seen: Seen, auth: Auth, name: string): void {
  const [header, other] = auth === "bearer" ? ["authorization", "x-api-key"] : ["x-api-key", "authorization"];
  const wanted = auth === "bearer" ? `Bearer ${keyNamed(name)}` : keyNamed(name);
  const values = valuesOf(seen.headers, header);
  expect(values.length === 1, `${seen.path}: ${values.length} ${header} headers instead of one`);
  expect(values[0] === wanted, `${seen.path}: ${header} is not the key called ${name}`);
  expect(valuesOf(seen.headers, other).length === 0, `${seen.path}: ${other} is there besides ${header}`);
}

/** The right key goes to the right place, and nobody else's does. */
export const CREDENTIAL_CHECKS: readonly Check[] = [credentials, tools];
