import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import {
  findLocalBaseUrl,
  KNOWN_SERVICES,
  LOCAL_SERVER_PORTS,
  serviceAt,
} from "../../../src/cli/setup/services.ts";
import { parseBaseUrl } from "../../../src/core/config/base-url.ts";

test("the base URL of every known service is one that the configuration takes as it is", async () => {
  for (const { baseUrl } of [...KNOWN_SERVICES, await findLocalBaseUrl("")]) {
    const parsed = parseBaseUrl(baseUrl);
    assert.equal("problem" in parsed ? parsed.problem : parsed.baseUrl, baseUrl);
  }
});

const authAt = (baseUrl: string, hasKey: boolean) => serviceAt(baseUrl, hasKey).auth;

test("how a service wants its key follows from its origin, and a local server has one only if it is given", () => {
  assert.equal(authAt("https://api.anthropic.com/v1", true), "x-api-key");
  assert.equal(authAt("https://openrouter.ai/api/v1", true), "bearer");
  assert.equal(authAt("https://api.example.com/v1", false), null);
  assert.equal(authAt("http://127.0.0.1:11434/v1", false), "none");
  assert.equal(authAt("http://localhost:1234/v1", true), null);
  assert.equal(authAt("https://my-resource.openai.azure.com/openai/v1", true), "api-key");
  assert.equal(authAt("https://my-resource.services.ai.azure.com/openai/v1", true), "api-key");
  assert.equal(authAt("https://my-resource.services.ai.azure.com/anthropic/v1", true), null);
  assert.equal(authAt("https://europe-west1-aiplatform.googleapis.com/v1", true), "bearer");
  assert.equal(authAt("https://aiplatform.googleapis.com.example.com/v1", true), null);
  for (const [host, apis] of [
    ["bedrock-runtime.eu-central-1.amazonaws.com", ["bedrock"]],
    ["bedrock-runtime-fips.us-gov-west-1.amazonaws.com", ["bedrock"]],
    ["bedrock-runtime.us-east-1.amazonaws.com.example.com", null],
  ] as const)
    assert.deepEqual(serviceAt(`https://${host}/model`, true).apis, apis);
  assert.equal(authAt("https://openai.azure.com.example.com/openai/v1", true), null);
});

const parse = (json: string) => (json === "" ? null : (JSON.parse(json) as unknown));

/** The rows of the table of services: base URL and values, as they are written in the configuration. */
function documentedServices(): { baseUrl: string; auth: unknown; apis: unknown; websocket: unknown }[] {
  const page = readFileSync(new URL("../../../docs/upstreams.md", import.meta.url), "utf8");
  const row =
    /^\|[^|]+\| +`(https?:[^`]+)` +\| +(?:`([^`]+)`)? *\| +(?:`([^`]+)`)? *\| +(?:`([^`]+)`)? *\|$/gm;
  return [...page.matchAll(row)].map(([, baseUrl = "", auth = "", apis = "", websocket = ""]) => {
    const values = { auth: parse(auth), apis: parse(apis), websocket: parse(websocket) };
    return { baseUrl: baseUrl.replace(/RESOURCE|HOST/, "a.example"), ...values };
  });
}

test("docs/upstreams.md has every service, and says of each what setup writes", () => {
  const documented = documentedServices();
  assert.deepEqual(
    documented.map(({ baseUrl }) => serviceAt(baseUrl, false)),
    documented,
  );
  const local = LOCAL_SERVER_PORTS.map((port) => `http://127.0.0.1:${port}/v1`);
  for (const baseUrl of [...KNOWN_SERVICES.map((known) => known.baseUrl), ...local]) {
    assert.ok(
      documented.some((service) => service.baseUrl === baseUrl),
      baseUrl,
    );
  }
  assert.equal(documented.length, 13);
});

test("of the model servers on this machine, the first that listens is proposed", async (t) => {
  const server = createServer();
  server.listen(1234, "127.0.0.1");
  const isOurs = await Promise.race([
    once(server, "listening").then(() => true),
    once(server, "error").then(() => false),
  ]);
  t.after(() => server.close());
  if (!isOurs) return t.skip("port 1234 is taken");
  const { baseUrl, title } = await findLocalBaseUrl("");
  // Ollama comes before it, if one runs here.
  assert.ok(["Ollama", "LM Studio"].includes(title ?? ""));
  if (title === "LM Studio") assert.equal(baseUrl, "http://127.0.0.1:1234/v1");
});
