import assert from "node:assert/strict";
import { test } from "node:test";
import { KNOWN_SERVICES, LOCAL_BASE_URL, serviceAt } from "../../../src/cli/setup/services.ts";
import { parseBaseUrl } from "../../../src/core/config/base-url.ts";

test("the base URL of every known service is one that the configuration takes as it is", () => {
  for (const { baseUrl } of [...KNOWN_SERVICES, { baseUrl: LOCAL_BASE_URL }]) {
    const parsed = parseBaseUrl(baseUrl);
    assert.equal("problem" in parsed ? parsed.problem : parsed.baseUrl, baseUrl);
  }
});

const auth = (baseUrl: string, hasKey: boolean) => serviceAt(baseUrl, hasKey).auth;

test("how a service wants its key follows from its origin, and a local server has one only if it is given", () => {
  assert.equal(auth("https://api.anthropic.com/v1", true), "x-api-key");
  assert.equal(auth("https://openrouter.ai/api/v1", true), "bearer");
  assert.equal(auth("https://api.example.com/v1", false), null);
  assert.equal(auth("http://127.0.0.1:11434/v1", false), "none");
  assert.equal(auth("http://localhost:1234/v1", true), null);
});
