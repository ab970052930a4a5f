import assert from "node:assert/strict";
import { test } from "node:test";
import { conflictsOf, environmentOf, toolOfProcess, toolOfRequest, writtenFiles } from "./tool-support.ts";

const BASE_URL = "http://127.0.0.1:8655/t/gemini-cli";
const SETTINGS = "~/.gemini/settings.json";

test("Gemini CLI is connected by its kind of key in its settings, and by two variables of the shell", () => {
  const files = writtenFiles("gemini-cli", { model: null });
  assert.deepEqual(JSON.parse(files[SETTINGS] ?? ""), {
    security: { auth: { selectedType: "gemini-api-key" } },
  });
  assert.match(
    files["~/.bashrc"] ?? "",
    /^export GOOGLE_GEMINI_BASE_URL='?http:\/\/127\.0\.0\.1:8655\/t\/gemini-cli'?$/m,
  );
  assert.match(files["~/.bashrc"] ?? "", /^export GEMINI_API_KEY='?tk-gemini-cli'?$/m);
});

test("Gemini CLI is run with the variables, and with the model that is chosen", () => {
  const model = "gemini-2.5-flash";
  assert.deepEqual(environmentOf("gemini-cli", { model }), {
    variables: { GOOGLE_GEMINI_BASE_URL: BASE_URL, GEMINI_API_KEY: "tk-gemini-cli" },
    flags: ["--model", model],
  });
});

test("another kind of login is found", () => {
  const login = { security: { auth: { selectedType: "oauth-personal" } } };
  assert.deepEqual(conflictsOf("gemini-cli", { [SETTINGS]: login }), {
    [`${SETTINGS} (security.auth.selectedType): Gemini CLI signs in by oauth-personal`]: {
      "security.auth.selectedType": "gemini-api-key",
    },
  });
});

test("Gemini CLI is recognized by its User-Agent and its process", () => {
  for (const agent of [
    "GeminiCLI/0.61.0/gemini-2.5-flash (linux; x64; terminal)",
    "GeminiCLI-tui/0.61.0/gemini-2.5-flash (linux; x64; terminal)",
  ])
    assert.equal(toolOfRequest({ "user-agent": agent }), "gemini-cli by signature");
  assert.equal(
    toolOfProcess("/usr/bin/node > /x/node_modules/@google/gemini-cli/bundle/gemini.js"),
    "gemini-cli",
  );
  assert.equal(toolOfProcess("/usr/local/bin/gemini"), "gemini-cli");
});
