import assert from "node:assert/strict";
import { test } from "node:test";
import { conflictsOf, environmentOf, findTool, firstFile, plansFor, toolOfRequest } from "./tool-support.ts";

test("programs on the makers' libraries are pointed at tollkeeper by the variables of both makers", () => {
  assert.deepEqual(environmentOf("sdk")?.variables, {
    ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/sdk",
    ANTHROPIC_API_KEY: "tk-sdk",
    OPENAI_BASE_URL: "http://127.0.0.1:8655/t/sdk/v1",
    OPENAI_API_KEY: "tk-sdk",
  });
});

test("variables are written into the start-up file of the user's shell", () => {
  assert.equal(firstFile("sdk", { SHELL: "/usr/bin/bash" }), "~/.bashrc");
  assert.equal(firstFile("sdk", { SHELL: "/bin/zsh" }), "~/.zshrc");
  assert.equal(firstFile("sdk", { SHELL: "/bin/zsh", ZDOTDIR: "/home/ada/.zsh" }), "~/.zsh/.zshrc");
  assert.equal(firstFile("sdk", { SHELL: "/usr/bin/fish" }), "~/.config/fish/conf.d/tollkeeper.fish");
  assert.equal(firstFile("sdk", { SHELL: "/bin/dash" }), "~/.profile");
  assert.equal(firstFile("sdk", {}), "~/.profile");
});

test("whoever connects programs is told how they ask for the usage of streams, which variables cannot do", () => {
  const [plan] = plansFor(findTool("sdk"));
  const remark = plan?.remarks.find((one) => one.includes("stream_options.include_usage")) ?? "";
  for (const option of ["stream_usage=True", "includeUsage"]) assert.ok(remark.includes(option), option);
});

for (const [userAgent, library] of [
  ["Anthropic/JS 1.11.0", "anthropic-sdk"],
  ["AsyncAnthropic/Python 0.84.0", "anthropic-sdk"],
  ["OpenAI/JS 7.55.0", "openai-sdk"],
  ["OpenAI/Python 2.1.0", "openai-sdk"],
  ["ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/22", "ai-sdk"],
  ["ai-sdk-openai/4.0.118", "ai-sdk"],
  ["ai-sdk-openai-compatible/3.0.92 ai-sdk-provider-utils/5.0.81 node.js/22", "ai-sdk"],
  ["langchainjs-openai/1.0.0", "langchain"],
  ["Agents/JavaScript 0.20.0", "openai-agents"],
  ["Agents/Python 0.9.0", "openai-agents"],
  ["curl/7.88.1", "curl"],
] as const) {
  test(`a program that sends only the User-Agent ${userAgent} is attributed to ${library}`, () =>
    assert.equal(toolOfRequest({ "user-agent": userAgent }), `${library} by library`));
}

test("requests of SDKs go elsewhere by a later base URL, and by the variable of older libraries, but not by another port of tollkeeper's", () => {
  const here = {
    ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/sdk",
    ANTHROPIC_API_KEY: "tk-sdk",
    OPENAI_BASE_URL: "http://127.0.0.1:8655/t/sdk/v1",
    OPENAI_API_KEY: "tk-sdk",
  };
  assert.deepEqual(conflictsOf("sdk", { "~/.bashrc": here }), {});
  // tollkeeper's own, on another port, and the placeholder or local token of another tool.
  const bridged = { ...here, ANTHROPIC_BASE_URL: "http://localhost:9000/t/sdk", OPENAI_API_KEY: "tk-codex" };
  assert.deepEqual(conflictsOf("sdk", { "~/.bashrc": bridged }), {});
  const stranger = { ...here, ANTHROPIC_BASE_URL: "http://localhost:9000/sdk", OPENAI_API_KEY: "sk-codex" };
  assert.deepEqual(conflictsOf("sdk", { "~/.bashrc": stranger }), {
    "~/.bashrc (ANTHROPIC_BASE_URL): it is another base URL": {},
    "~/.bashrc (OPENAI_API_KEY): it is sent in addition to tollkeeper's or instead of it": {},
  });
  const other = { OPENAI_BASE_URL: "https://a.example/v1", OPENAI_API_BASE: "https://b.example/v1" };
  assert.deepEqual(
    conflictsOf("sdk", { "~/.bashrc": { ...here, ...other, ANTHROPIC_AUTH_TOKEN: "another" } }),
    {
      "~/.bashrc (OPENAI_BASE_URL): it is another base URL": {},
      "~/.bashrc (OPENAI_API_BASE): it is another base URL": {},
      "~/.bashrc (ANTHROPIC_AUTH_TOKEN): it is sent in addition to tollkeeper's or instead of it": {},
    },
  );
});
