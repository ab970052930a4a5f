import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_REACH, PLAN_REACH } from "../../src/core/policy/tool-reach.ts";
import {
  conflictsOf,
  environmentOf,
  findTool,
  firstFile,
  plansFor,
  toolOfProcess,
  toolOfRequest,
  TOKEN,
  writtenObject,
} from "./tool-support.ts";

const ENV = {
  ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/claude-code",
  ANTHROPIC_AUTH_TOKEN: "tk-claude-code",
  ENABLE_TOOL_SEARCH: "true",
  CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: "1",
  CLAUDE_CODE_GATEWAY_HINT_HEADERS: "1",
};

const ANTHROPIC = { ...NO_REACH, isAnthropic: true };
const SETTINGS = "~/.claude/settings.json";

test("Claude Code is connected by variables in its user settings, or in the project's settings that are not committed", () => {
  assert.deepEqual(
    writtenObject("claude-code", "~/.claude/settings.json", { model: null, reach: ANTHROPIC }),
    {
      env: ENV,
    },
  );
  const [, project] = plansFor(findTool("claude-code"));
  assert.deepEqual(
    project?.files.map(({ path }) => path),
    ["/home/ada/project/.claude/settings.local.json"],
  );
});

test("Claude Code is run with the same variables, and one for the model", () => {
  assert.deepEqual(environmentOf("claude-code", { reach: ANTHROPIC }), {
    variables: { ...ENV, ANTHROPIC_MODEL: "claude-sonnet-5" },
    flags: [],
  });
});

test("Claude Code's background requests use the small model that is listed", () => {
  const { variables } = environmentOf("claude-code", { smallModel: "claude-haiku-4-5" }) ?? {};
  assert.equal(variables?.["ANTHROPIC_DEFAULT_HAIKU_MODEL"], "claude-haiku-4-5");
  assert.deepEqual(
    ["claude-haiku-4-5", "anthropic/claude-3.5-haiku", "claude-opus-5-5", "gpt-5.5-mini"].filter((id) =>
      findTool("claude-code").smallModels?.test(id),
    ),
    ["claude-haiku-4-5", "anthropic/claude-3.5-haiku"],
  );
});

test("Claude Code takes tollkeeper for Anthropic's own service only where that is asked for, and then has its own small model", () => {
  const variable = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL";
  const [asked = {}, other = {}] = [true, false].map((isFirstParty) => {
    const changes = { reach: ANTHROPIC, smallModel: "claude-haiku-4-5", isFirstParty };
    return environmentOf("claude-code", changes)?.variables;
  });
  assert.ok(!(variable in other));
  assert.equal(asked[variable], "1");
  assert.ok(!("ANTHROPIC_DEFAULT_HAIKU_MODEL" in asked));
});

test("Claude Code searches no tools and signs no prompt before a service that is not Anthropic's own", () => {
  const { variables } = environmentOf("claude-code", { model: null }) ?? {};
  assert.deepEqual(variables, {
    ...ENV,
    ENABLE_TOOL_SEARCH: "false",
    CLAUDE_CODE_ATTRIBUTION_HEADER: "0",
  });
});

const BEDROCK = { ...NO_REACH, bedrockRegion: "eu-west-1" };
const BEDROCK_ENV = {
  CLAUDE_CODE_USE_BEDROCK: "1",
  ANTHROPIC_BEDROCK_BASE_URL: "http://127.0.0.1:8655/t/claude-code",
  AWS_REGION: "eu-west-1",
  CLAUDE_CODE_SKIP_BEDROCK_AUTH: "1",
};

test("Claude Code uses Amazon Bedrock where its upstreams serve only that: unsigned, or with the local token as its key", () => {
  const asked = { model: null, reach: BEDROCK, smallModel: "claude-haiku-4-5" };
  assert.deepEqual(environmentOf("claude-code", asked)?.variables, BEDROCK_ENV);
  const { CLAUDE_CODE_SKIP_BEDROCK_AUTH: _, ...signed } = BEDROCK_ENV;
  assert.deepEqual(environmentOf("claude-code", { ...asked, credential: TOKEN, isToken: true })?.variables, {
    ...signed,
    AWS_BEARER_TOKEN_BEDROCK: TOKEN,
  });
});

test("with Bedrock, only another cloud or another address of Bedrock sends Claude Code's requests elsewhere", () => {
  const ours = {
    ...BEDROCK_ENV,
    ANTHROPIC_API_KEY: "another",
    ANTHROPIC_BASE_URL: "https://models.work.example",
  };
  const other = { env: { ANTHROPIC_BEDROCK_BASE_URL: "https://models.work.example" } };
  const vertex = { env: { CLAUDE_CODE_USE_VERTEX: "1" } };
  assert.deepEqual(conflictsOf("claude-code", { [SETTINGS]: { env: ours } }, { reach: BEDROCK }), {});
  // As `connect --list` asks, which does not know the upstreams.
  assert.deepEqual(conflictsOf("claude-code", { [SETTINGS]: { env: ours } }), {});
  const project = "./.claude/settings.json";
  assert.deepEqual(
    conflictsOf("claude-code", { [SETTINGS]: { env: ours }, [project]: other }, { reach: BEDROCK }),
    {
      [`${project} (env.ANTHROPIC_BEDROCK_BASE_URL): it is another base URL`]: {},
    },
  );
  assert.deepEqual(conflictsOf("claude-code", { [SETTINGS]: { env: ours }, [project]: vertex }), {
    [`${project} (env.CLAUDE_CODE_USE_VERTEX): it makes Claude Code use Google Vertex AI`]: {
      "env.CLAUDE_CODE_USE_VERTEX": "0",
    },
  });
});

test("Claude Code's settings are in CLAUDE_CONFIG_DIR, unless that is relative", () => {
  assert.equal(firstFile("claude-code", { CLAUDE_CONFIG_DIR: "/etc/c" }), "/etc/c/settings.json");
  assert.equal(firstFile("claude-code", { CLAUDE_CONFIG_DIR: "c" }), "~/.claude/settings.json");
});

test("Claude Code is recognized by its session id, and its model discovery by the User-Agent", () => {
  const userAgent = "claude-cli/2.1.329 (external, cli)";
  assert.equal(
    toolOfRequest({ "user-agent": userAgent, "x-claude-code-session-id": "s1" }),
    "claude-code by signature",
  );
  assert.equal(toolOfRequest({ "user-agent": "claude-code/2.1.329" }), "claude-code by signature");
});

for (const path of [
  "/home/u/.local/share/claude/versions/2.1.329",
  "/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe",
  "/x/node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude",
  "/home/u/.vscode/extensions/anthropic.claude-code-2.1.0/resources/native-binary/claude",
  "/usr/bin/node > /usr/local/bin/claude",
]) {
  test(`${path} is a process of Claude Code`, () => assert.equal(toolOfProcess(path), "claude-code"));
}

const HERE = { ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/claude-code" };

test("Claude Code's requests go elsewhere by a base URL of stronger settings: the project's, then the administrator's", () => {
  const other = { env: { ANTHROPIC_BASE_URL: "https://models.work.example" } };
  const reason = "(env.ANTHROPIC_BASE_URL): it is another base URL";
  assert.deepEqual(conflictsOf("claude-code", { [SETTINGS]: { env: HERE } }), {});
  for (const path of [
    "./.claude/settings.json",
    "./.claude/settings.local.json",
    "/etc/claude-code/managed-settings.json",
    "/etc/claude-code/managed-settings.d/10-gateway.json",
  ]) {
    assert.deepEqual(conflictsOf("claude-code", { [SETTINGS]: { env: HERE }, [path]: other }), {
      [`${path} ${reason}`]: {},
    });
  }
  const overridden = { "./.claude/settings.json": other, "./.claude/settings.local.json": { env: HERE } };
  assert.deepEqual(conflictsOf("claude-code", overridden), {});
});

for (const [variable, cloud] of [
  ["CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"],
  ["CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"],
  ["CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"],
  ["CLAUDE_CODE_USE_MANTLE", "Amazon Bedrock"],
  ["CLAUDE_CODE_USE_ANTHROPIC_AWS", "Anthropic on AWS"],
  ["CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD", "Anthropic on Google Cloud"],
] as const) {
  test(`Claude Code's requests go elsewhere by ${variable}, in its settings or its environment, unless it is off`, () => {
    const remedy = { [`env.${variable}`]: "0" };
    const reason = `(env.${variable}): it makes Claude Code use ${cloud}`;
    assert.deepEqual(conflictsOf("claude-code", { [SETTINGS]: { env: { [variable]: "1" } } }), {
      [`${SETTINGS} ${reason}`]: remedy,
    });
    assert.deepEqual(conflictsOf("claude-code", {}, { env: { [variable]: "true" } }), {
      [`env ${reason}`]: remedy,
    });
    const off = { [SETTINGS]: { env: { [variable]: "0" } } };
    assert.deepEqual(conflictsOf("claude-code", off, { env: { [variable]: "1" } }), {});
  });
}

test("Claude Code sends an API key and a helper's key beside our token; those in its settings can be emptied", () => {
  const reason = "Claude Code sends it in addition to ANTHROPIC_AUTH_TOKEN, which wins";
  const settings = { env: { ANTHROPIC_API_KEY: "another" }, apiKeyHelper: "/usr/local/bin/key" };
  assert.deepEqual(conflictsOf("claude-code", { [SETTINGS]: settings }), {
    [`${SETTINGS} (env.ANTHROPIC_API_KEY): ${reason}`]: { "env.ANTHROPIC_API_KEY": "" },
    [`${SETTINGS} (apiKeyHelper): ${reason}`]: { apiKeyHelper: "" },
  });
  // Programs that Claude Code runs may need the shell's.
  assert.deepEqual(conflictsOf("claude-code", {}, { env: { ANTHROPIC_API_KEY: "another" } }), {
    [`env (env.ANTHROPIC_API_KEY): ${reason}`]: {},
  });
  const empty = { env: { ANTHROPIC_API_KEY: "" }, apiKeyHelper: "" };
  assert.deepEqual(conflictsOf("claude-code", { [SETTINGS]: empty }), {});
  assert.deepEqual(
    conflictsOf("claude-code", { [SETTINGS]: { env: { ANTHROPIC_API_KEY: "tk-claude-code" } } }),
    {},
  );
});

test("where its plan pays, Claude Code has no credential but its login, and what comes before the login is a conflict", () => {
  const account = {
    account: "plan",
    baseUrl: "http://127.0.0.1:8655/t/claude-code/plan",
    model: null,
    reach: PLAN_REACH,
  } as const;
  const { variables = {} } = environmentOf("claude-code", account) ?? {};
  assert.deepEqual(Object.keys(variables), [
    "ANTHROPIC_BASE_URL",
    "ENABLE_TOOL_SEARCH",
    "CLAUDE_CODE_GATEWAY_HINT_HEADERS",
  ]);
  const before = "Claude Code sends it instead of its login, and tollkeeper refuses such requests";
  const USER = "~/.claude/settings.json";
  const settings = {
    [USER]: { env: { ANTHROPIC_AUTH_TOKEN: "tk-claude-code" }, apiKeyHelper: "pass show key" },
  };
  assert.deepEqual(conflictsOf("claude-code", settings, { ...account, env: { ANTHROPIC_API_KEY: "mine" } }), {
    [`${USER} (env.ANTHROPIC_AUTH_TOKEN): ${before}`]: { "env.ANTHROPIC_AUTH_TOKEN": "" },
    [`env (env.ANTHROPIC_API_KEY): ${before}`]: {},
    [`${USER} (apiKeyHelper): ${before}`]: { apiKeyHelper: "" },
  });
});
