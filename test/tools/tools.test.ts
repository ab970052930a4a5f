import assert from "node:assert/strict";
import { isAbsolute } from "node:path";
import { test } from "node:test";
import { applySettings } from "../../src/connect/edit/apply-settings.ts";
import { undoSettings } from "../../src/connect/edit/undo-settings.ts";
import { parseToolName } from "../../src/core/config/names.ts";
import { CONNECTABLE_TOOLS, PROCESS_SIGNATURES, REQUEST_SIGNATURES, TOOLS } from "../../src/tools/all.ts";
import type { ConnectableTool } from "../../src/tools/tool.ts";
import { LIBRARIES } from "../real-tools/libraries.ts";
import { CONNECTED_TOOLS, GEMINI_CLI } from "../real-tools/tools.ts";
import { endpointFor, HOST, plansFor, TOKEN } from "./tool-support.ts";

/** A model of each API. */
const MODELS = ["claude-sonnet-5", "gpt-5.5", "qwen3-coder:30b"];

const WRITABLE_TOOLS = CONNECTABLE_TOOLS.filter(({ scopes }) => scopes.length > 0);

test("each tool has a name that is valid in a path, and no name, title or program that another tool has", () => {
  const names = TOOLS.map(({ name }) => name);
  assert.deepEqual([...new Set(names)], names);
  assert.deepEqual(names.map(parseToolName), names);
  const titles = TOOLS.map(({ title }) => title.toLowerCase());
  assert.equal(new Set(titles).size, titles.length);
  const programs = CONNECTABLE_TOOLS.flatMap((tool) => tool.programs);
  assert.deepEqual([...new Set(programs)], programs);
});

test("each tool cites a public address and the day it was read", () => {
  for (const { name, source, date } of TOOLS) {
    assert.match(source, /^https:\/\/\S+$/, name);
    assert.equal(new Date(date).toISOString().slice(0, 10), date, name);
  }
});

test("the version with which a tool was tried is the one that `npm run test:tools` runs", () => {
  const run = new Map([...CONNECTED_TOOLS, GEMINI_CLI].map(({ tool, version }) => [tool, version]));
  const libraries = LIBRARIES.map((library) => `${library.package} ${library.version}`);
  for (const { name, tried } of CONNECTABLE_TOOLS) {
    if (name !== "sdk") assert.equal(tried, run.get(name) ?? null, name);
    else for (const version of tried?.split(", ") ?? []) assert.ok(libraries.includes(version), version);
  }
});

for (const [what, signatures] of [
  ["tools by headers", REQUEST_SIGNATURES.tools],
  ["libraries by headers", REQUEST_SIGNATURES.libraries],
  ["tools by processes", PROCESS_SIGNATURES],
] as const) {
  test(`each signature that identifies ${what} cites a public source and the day it was recorded`, () => {
    for (const { tool, source, date } of signatures) {
      assert.match(source, /^(?:npm packages? \S+ \d|https:\/\/\S|curl \d)/, tool);
      assert.equal(new Date(date).toISOString().slice(0, 10), date, tool);
      assert.equal(parseToolName(tool), tool);
    }
  });
}

test("each process signature has names or a path, and the names are in the spelling they are compared in", () => {
  for (const { tool, names = [], path } of PROCESS_SIGNATURES) {
    assert.ok(names.length > 0 || path !== undefined, tool);
    for (const name of names) assert.match(name, /^[a-z0-9][a-z0-9-]*$/);
  }
});

test("each tool that is recognized by its headers is recognized by its process, too", () => {
  const tools = PROCESS_SIGNATURES.map(({ tool }) => tool);
  for (const { tool } of REQUEST_SIGNATURES.tools) assert.ok(tools.includes(tool), tool);
});

test("each setting states its purpose, is written at an absolute path, and is undone without a trace", () => {
  for (const tool of CONNECTABLE_TOOLS) {
    for (const model of [null, ...MODELS]) {
      for (const { files, remarks } of plansFor(tool, { model })) {
        for (const file of files) {
          assert.ok(isAbsolute(file.path), file.path);
          for (const { purpose } of file.settings) assert.match(purpose, /^[a-z].*[^.]$/, tool.name);
          const { text, undo } = applySettings(null, file, tool.name);
          assert.equal(undoSettings(text, undo).text, null, `${tool.name}: ${text}`);
        }
        for (const remark of remarks) assert.match(remark, /[.:}]$/, tool.name);
      }
    }
  }
});

test("a tool whose settings tollkeeper cannot write tells the user what to do", () => {
  const manual = CONNECTABLE_TOOLS.filter(({ scopes }) => scopes.length === 0);
  assert.deepEqual(
    manual.map(({ name }) => name),
    ["vscode", "cursor", "jetbrains"],
  );
  for (const tool of manual) {
    const { files, remarks } = tool.plan(HOST, endpointFor(tool.name), "user");
    assert.deepEqual(files, []);
    assert.ok(remarks.length > 0);
  }
});

/** Returns every string in a value, at any depth. */
function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** Returns what follows our base URL in the tool's settings, each suffix once. */
function baseUrlSuffixes(tool: ConnectableTool, model: string): string[] {
  const endpoint = endpointFor(tool.name, { model });
  const values = tool
    .plan(HOST, endpoint, "user")
    .files.flatMap(({ settings }) => settings.map(({ value }) => value));
  const urls = stringsIn(values).flatMap((text) => text.match(/http:\/\/127[^"\\]*/g) ?? []);
  for (const url of urls) assert.ok(url.startsWith(endpoint.baseUrl), `${tool.name}: ${url}`);
  return [...new Set(urls.map((url) => url.slice(endpoint.baseUrl.length)))].sort();
}

test("each tool gets the base URL with its name, and with or without /v1 as it needs it", () => {
  const suffixes = Object.fromEntries(
    WRITABLE_TOOLS.map((tool) => [tool.name, MODELS.map((model) => baseUrlSuffixes(tool, model))]),
  );
  assert.deepEqual(suffixes, {
    "claude-code": [[""], [""], [""]],
    "gemini-cli": [[""], [""], [""]],
    codex: [["/v1"], ["/v1"], ["/v1"]],
    opencode: [["/v1"], ["/v1"], ["/v1"]],
    kilo: [["/v1"], ["/v1"], ["/v1"]],
    "qwen-code": [[""], ["/v1"], ["/v1"]],
    "kimi-code": [[""], ["/v1"], ["/v1"]],
    cline: [["/v1"], ["/v1"], ["/v1"]],
    continue: [["/v1"], ["/v1"], ["/v1"]],
    copilot: [[""], ["/v1"], ["/v1"]],
    pi: [
      ["", "/v1"],
      ["", "/v1"],
      ["", "/v1"],
    ],
    droid: [[""], ["/v1"], ["/v1"]],
    aider: [[""], ["/v1"], ["/v1"]],
    goose: [[""], [""], [""]],
    junie: [["/v1/messages"], ["/v1/responses"], ["/v1/chat/completions"]],
    zed: [[""], ["", "/v1"], ["", "/v1"]],
    sdk: [
      ["", "/v1"],
      ["", "/v1"],
      ["", "/v1"],
    ],
  });
});

test("a local token is written for each tool that tollkeeper configures, or the user is told to enter it", () => {
  for (const tool of WRITABLE_TOOLS) {
    for (const model of MODELS) {
      for (const plan of plansFor(tool, { credential: TOKEN, isToken: true, model })) {
        const isWritten = stringsIn(plan.files).includes(TOKEN);
        const isTold = plan.remarks.some((remark) => remark.includes(`tollkeeper token add ${tool.name}`));
        assert.ok(isWritten !== isTold, tool.name);
        // Remarks are printed.
        assert.ok(!plan.remarks.join().includes(TOKEN), tool.name);
      }
    }
  }
});

test("a local token is in the environment of a command that is run, and never in its flags, which all users can read", () => {
  for (const tool of CONNECTABLE_TOOLS) {
    const endpoint = endpointFor(tool.name, { credential: TOKEN, isToken: true });
    const environment = tool.environment(HOST, endpoint);
    if (environment === null) continue;
    assert.ok(
      stringsIn(environment.variables).some((text) => text.includes(TOKEN)),
      tool.name,
    );
    assert.doesNotMatch(environment.flags.join(" "), new RegExp(TOKEN), tool.name);
  }
});

test("a model is written only where there is one", () => {
  for (const tool of CONNECTABLE_TOOLS) {
    const settings = (model: string | null) =>
      JSON.stringify(plansFor(tool, { model }).map(({ files }) => files.map((file) => file.settings)));
    assert.doesNotMatch(settings(null), /claude-sonnet|gpt-|qwen3/, tool.name);
    if (tool.modelApis.length === 0) continue;
    for (const model of MODELS) assert.ok(settings(model).includes(`${model}"`), `${tool.name}: ${model}`);
  }
});
