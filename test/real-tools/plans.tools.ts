// Tools that are signed in with a plan, with made-up logins and servers in place of the services: through tollkeeper the service sees what it
// sees without it, a refresh happens outside, and the tool ends as it does without it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon, type CommandResult, type Daemon } from "../helpers/daemon/daemon.ts";
import {
  CLAUDE_CODE,
  CODEX,
  installTool,
  type InstalledTool,
  type RealTool,
} from "../helpers/tools/real-tool.ts";
import * as anthropic from "./anthropic-service.ts";
import * as chatgpt from "./chatgpt-service.ts";
import { expectSuccess, runTollkeeper } from "./connect-tool.ts";
import { listFiles, snapshot, writeSeeds } from "./home-files.ts";
import {
  startPlanServices,
  type ServiceLimit,
  type PlanServices,
  type ServiceRequest,
  type ServiceScript,
} from "./plan-services.ts";
import type { Seeds } from "./seeds.ts";
import { compareSeen, describeSeen } from "./seen-requests.ts";
import { assertNowhere, readFilesBelow } from "../security/leak-search.ts";

/** A tool that signs in to a plan. */
interface PlanTool {
  tool: RealTool;
  name: "claude-code" | "codex";
  login(): Seeds;
  prompt: readonly string[];
  isForProvider(seen: ServiceRequest): boolean;
  hasRefreshedToken(seen: ServiceRequest): boolean;
}

const CODEX_PLAN: PlanTool = {
  tool: CODEX,
  name: "codex",
  login: chatgpt.chatgptLogin,
  prompt: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "do it"],
  isForProvider: chatgpt.isForProvider,
  hasRefreshedToken: chatgpt.hasRefreshedToken,
};

const CLAUDE_PLAN: PlanTool = {
  tool: CLAUDE_CODE,
  name: "claude-code",
  login: anthropic.claudeLogin,
  prompt: ["-p", "do it", "--allowedTools", "Bash(echo hello)"],
  isForProvider: anthropic.isForProvider,
  hasRefreshedToken: anthropic.hasRefreshedToken,
};

/** A run of a tool, and what the services have seen of it. */
interface Run {
  result: CommandResult;
  services: PlanServices;
  /** What the tool asked its provider. */
  asked: ServiceRequest[];
  /** What the tool said on WebSockets. */
  messages: string[];
}

interface Runs {
  home: string;
  direct: Run;
  through: Run;
  daemon: Daemon;
  /** The output of `tollkeeper limits` while the daemon ran. */
  limits: string;
}

interface RunOptions {
  /** Added to the daemon's configuration. */
  config?: object;
  /** Further arguments of `connect`. */
  options?: readonly string[];
  /** Added to the tool's environment. */
  env?: Record<string, string>;
}

/**
 * Runs the tool without tollkeeper, connects it, runs it through tollkeeper and disconnects it. Nothing but what the tool asks its
 * provider comes through, all of that does, the files are as before, and the login is in no file and no output of the daemon. Returns
 * null, with the test skipped, where the tool cannot be installed.
 */
async function runBoth(
  t: TestContext,
  plan: PlanTool,
  script: () => ServiceScript,
  { config = {}, options = [], env = {} }: RunOptions = {},
): Promise<Runs | null> {
  const installed = await installTool(t, plan.tool);
  if (installed === null) return null;
  const { home } = installed;
  Object.assign(installed.env, env);
  const direct = await runTool(installed, plan, await startPlanServices(t, script()), "own");

  const services = await startPlanServices(t, script());
  const { own, proxied } = services;
  const outbound = { httpsProxy: proxied.proxy, caFile: proxied.certificate };
  const daemon = await startDaemon(t, { config: { outbound, ...config } });
  const command = (...args: string[]) => expectSuccess(runTollkeeper(t, daemon, installed, ...args));
  const files = listFiles(plan.name, home);
  const before = snapshot(files);
  await command("connect", plan.name, "--account", "plan", "--yes", ...options);
  const through = await runTool(installed, plan, services, "proxied");
  const limits = await command("limits");
  await command("disconnect", plan.name, "--yes");
  assert.deepEqual(snapshot(files), before);

  assert.deepEqual(
    [own.seen.filter(plan.isForProvider), proxied.seen.filter((seen) => !plan.isForProvider(seen))],
    [[], []],
  );
  const logins = through.asked.map(({ headers }) => headers.authorization?.replace("Bearer ", "") ?? "");
  const written = { ...readFilesBelow(daemon.home, null), output: daemon.stdout() + daemon.stderr() };
  for (const login of new Set(logins)) assertNowhere(login, written);
  const records = await daemon.ledger();
  assert.ok(records.some(({ upstream }) => upstream.startsWith("plan:")));
  assert.deepEqual(
    records.filter(({ upstream }) => !/^(?:plan:|sandbox$)/.test(upstream)),
    [],
  );
  return { home, direct, through, daemon, limits };
}

async function runTool(
  installed: InstalledTool,
  plan: PlanTool,
  services: PlanServices,
  way: keyof PlanServices,
): Promise<Run> {
  writeSeeds(installed.home, plan.login());
  const { proxy, certificate } = services.own;
  for (const name of ["HTTPS_PROXY", "https_proxy"]) installed.env[name] = proxy;
  for (const name of ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CODEX_CA_CERTIFICATE"])
    installed.env[name] = certificate;
  const result = await installed.run(...plan.prompt);
  const { seen, messages } = services[way];
  return { result, services, asked: seen.filter(plan.isForProvider), messages };
}

/** Why the service sees something else: a pattern of lines, and the reason. */
type Explained = readonly [pattern: RegExp, reason: string][];

/** Fails unless each difference is explained, and each explanation is needed. */
function assertExplained({ direct, through, home }: Runs, explained: Explained): void {
  const [one, other] = [direct, through].map(({ asked, messages }) => describeSeen(asked, messages, home));
  assert.ok(one !== undefined && other !== undefined);
  const different = compareSeen(one, other);
  assert.deepEqual(
    different.filter((line) => !explained.some(([pattern]) => pattern.test(line))),
    [],
  );
  assert.deepEqual(
    explained.filter(([pattern]) => !different.some((line) => pattern.test(line))),
    [],
  );
}

/** How the tool ended, for the eye of its user: lines with times and ids are left out. */
function lastWords({ result: { code, stdout, stderr } }: Run): unknown[] {
  const errors = stderr.split("\n").filter((line) => line.startsWith("ERROR: "));
  return [code, stdout, errors];
}

/** Asks for a model's response, in their order: the methods. */
function methodsOf({ asked }: Run): string[] {
  return asked.filter(({ url }) => !url.includes("/models")).map(({ method }) => method);
}

const OWN_PROVIDER = "Codex sends it to its built-in provider only";

const CODEX_EXPLAINED: Explained = [
  [/^- \w+ \S+ version: /, OWN_PROVIDER],
  [
    /^[-+] GET \S+\/responses sec-websocket-extensions: permessage-deflate/,
    "without a parameter (docs/websocket.md)",
  ],
];

const CODEX_SOCKET_EXPLAINED: Explained = [
  ...CODEX_EXPLAINED,
  [/^- message client_metadata.mcp_attribution = /, OWN_PROVIDER],
];

/** A session has a WebSocket, and so has each of its agents. */
const GET_TWICE = ["GET", "GET"];

test(`codex@${CODEX.version} with a plan asks over a WebSocket for what it asks without tollkeeper, with a loop of tools`, async (t) => {
  const runs = await runBoth(t, CODEX_PLAN, () => chatgpt.chatgptService({ calls: 2 }));
  if (runs === null) return;
  assertExplained(runs, CODEX_SOCKET_EXPLAINED);
  assert.deepEqual(lastWords(runs.through), [0, "done\n", []]);
  assert.deepEqual(lastWords(runs.direct), lastWords(runs.through));
  assert.deepEqual([methodsOf(runs.through), runs.through.messages.length], [["GET"], 4]);
  assert.match(runs.limits, /plan:chatgpt[^]*62%/);
  const records = await runs.daemon.ledger();
  assert.deepEqual(
    records
      .filter(({ route }) => route === "/responses")
      .map(({ upstream, status, tokens }) => [upstream, status, tokens?.input_total, tokens?.output]),
    [1, 2, 3, 4].map((number) => ["plan:chatgpt", 101, 1_000 + number, number]),
  );
});

test(`codex@${CODEX.version} with a plan goes on with POST where the service has no WebSocket`, async (t) => {
  const runs = await runBoth(t, CODEX_PLAN, () => chatgpt.chatgptService({ calls: 1, hasWebSocket: false }));
  if (runs === null) return;
  assertExplained(runs, CODEX_EXPLAINED);
  assert.deepEqual(lastWords(runs.through), [0, "done\n", []]);
  assert.deepEqual(lastWords(runs.direct), lastWords(runs.through));
  // After a 426 tollkeeper does not ask again.
  assert.deepEqual(methodsOf(runs.through), ["GET", "POST", "POST"]);
});

test(`codex@${CODEX.version} with a plan has a WebSocket for a sub-agent, too, whose responses are recorded as its own`, async (t) => {
  const runs = await runBoth(t, CODEX_PLAN, () => chatgpt.chatgptService({ calls: 2, hasAgent: true }));
  if (runs === null) return;
  assertExplained(runs, CODEX_SOCKET_EXPLAINED);
  assert.deepEqual(lastWords(runs.through), [0, "done\n", []]);
  assert.deepEqual(lastWords(runs.direct), lastWords(runs.through));
  assert.deepEqual([methodsOf(runs.direct), methodsOf(runs.through)], [GET_TWICE, GET_TWICE]);
  const records = (await runs.daemon.ledger()).filter(({ route }) => route === "/responses");
  const count = (kind: string, isAgent: boolean) =>
    records.filter(({ agent, agent_kind: own }) => own === kind && (agent !== null) === isAgent).length;
  assert.deepEqual(
    [count("warmup", false), count("main", false), count("warmup", true), count("subagent", true)],
    [1, 3, 1, 1],
  );
  assert.equal(new Set(records.map(({ session }) => session)).size, 1);
});

for (const plan of [CODEX_PLAN, CLAUDE_PLAN])
  test(`${plan.name}@${plan.tool.version} with a plan renews its login at a 401, outside of tollkeeper`, async (t) => {
    const isExpired = true;
    const runs = await runBoth(t, plan, () =>
      plan === CODEX_PLAN ? chatgpt.chatgptService({ isExpired }) : anthropic.anthropicService({ isExpired }),
    );
    if (runs === null) return;
    for (const run of [runs.direct, runs.through]) {
      assert.deepEqual(lastWords(run), [0, "done\n", []]);
      const refreshes = run.services.own.seen.filter(({ url }) => url.includes("/oauth/token"));
      assert.equal(refreshes.length, 1);
      const renewed = run.asked.map((seen) => plan.hasRefreshedToken(seen));
      assert.deepEqual([renewed[0], renewed.at(-1)], [false, true]);
    }
    assert.deepEqual(methodsOf(runs.through), methodsOf(runs.direct));
  });

const soon = () => String(Math.floor(Date.now() / 1000) + 600);

/** A 429 with the limits of the plan, and one without. */
const LIMITS: Record<PlanTool["name"], Record<string, ServiceLimit>> = {
  codex: {
    "with limits": {
      body: { error: { type: "usage_limit_reached", plan_type: "plus", resets_in_seconds: 600 } },
      headers: {
        "x-codex-primary-used-percent": "100",
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-after-seconds": "600",
      },
    },
    "without limits": { body: { error: { type: "rate_limit_exceeded", message: "too many" } }, headers: {} },
  },
  "claude-code": {
    "with limits": {
      body: { type: "error", error: { type: "rate_limit_error", message: "over the limit" } },
      headers: {
        "retry-after": "600",
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-5h-status": "rejected",
        "anthropic-ratelimit-unified-5h-utilization": "1.0",
        "anthropic-ratelimit-unified-5h-reset": soon(),
        "anthropic-ratelimit-unified-reset": soon(),
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
      },
    },
    "without limits": {
      body: { type: "error", error: { type: "rate_limit_error", message: "too many" } },
      headers: {},
    },
  },
};

for (const plan of [CODEX_PLAN, CLAUDE_PLAN])
  for (const [which, limit] of Object.entries(LIMITS[plan.name]))
    test(`${plan.name}@${plan.tool.version} with a plan ends at a 429 ${which} as it does without tollkeeper`, async (t) => {
      const script = () =>
        plan === CODEX_PLAN ? chatgpt.chatgptService({ limit }) : anthropic.anthropicService({ limit });
      const runs = await runBoth(t, plan, script, { env: { CLAUDE_CODE_MAX_RETRIES: "1" } });
      if (runs === null) return;
      assert.equal(runs.through.result.code, 1);
      assert.deepEqual(lastWords(runs.through), lastWords(runs.direct));
      assert.deepEqual(methodsOf(runs.through), methodsOf(runs.direct));
      if (which === "with limits") assert.match(runs.limits, /100%/);
    });

test(`codex@${CODEX.version} with a plan shows what a brake says on a WebSocket, and does not repeat its message`, async (t) => {
  const config = { tools: { codex: { brake: { requestsPerMinute: 2 } } } };
  const runs = await runBoth(t, CODEX_PLAN, () => chatgpt.chatgptService({ calls: 2 }), { config });
  if (runs === null) return;
  const { result, messages } = runs.through;
  assert.equal(result.code, 1);
  assert.match(result.stderr, /ERROR: .*tollkeeper: codex is too fast: tools\.codex\.brake/);
  // The warm-up and one more.
  assert.deepEqual([messages.length, methodsOf(runs.through)], [2, ["GET"]]);
  const refused = (await runs.daemon.ledger()).filter(({ error_type: code }) => code === "plan_throttled");
  assert.deepEqual(
    refused.map(({ status }) => status),
    [400],
  );
});

const CALLS = [
  { name: "Bash", input: { command: "echo hello", description: "Say hello" } },
  { name: "Agent", input: { description: "Look", prompt: "look around", subagent_type: "general-purpose" } },
];

const callTwice = () => anthropic.anthropicService({ calls: CALLS });

/** Claude Code leaves it out at any base URL, also with `--first-party`. */
const SYSTEM_CLEARING: Explained[number] = [
  /^- POST \S+ anthropic-beta: mid-conversation-system-clear-at-/,
  "Claude Code looks at the host itself",
];

const AT_ANTHROPIC = "only where the base URL is Anthropic's (docs/plans.md)";

const CLAUDE_EXPLAINED: Explained = [
  SYSTEM_CLEARING,
  [
    /^- POST \S+ anthropic-beta: (?:prompt-caching-scope|tool-provenance|thinking-binding-controls|cache-diagnosis)-/,
    AT_ANTHROPIC,
  ],
  [/^- POST \S+ x-claude-code-sandy-plover: /, AT_ANTHROPIC],
  [/^- POST \S+ x-client-request-id: /, AT_ANTHROPIC],
  [/^- POST \S+ diagnostics\./, AT_ANTHROPIC],
  // Its first block says less, and marks other blocks to be cached.
  [/^[-+] POST \S+ system = /, AT_ANTHROPIC],
];

for (const [what, options, explained] of [
  ["", [], CLAUDE_EXPLAINED],
  [" and --first-party", ["--first-party"], [SYSTEM_CLEARING]],
] as const)
  test(`claude-code@${CLAUDE_CODE.version} with a plan${what} asks for what it asks without tollkeeper, with a loop of tools and a sub-agent`, async (t) => {
    const runs = await runBoth(t, CLAUDE_PLAN, callTwice, { options });
    if (runs === null) return;
    assertExplained(runs, explained);
    assert.equal(runs.through.result.code, 0);
    assert.deepEqual(lastWords(runs.direct), lastWords(runs.through));
    assert.deepEqual(methodsOf(runs.through), methodsOf(runs.direct));
    assert.match(runs.limits, /plan:claude[^]*62%/);
    const records = (await runs.daemon.ledger()).filter(({ upstream }) => upstream === "plan:claude");
    assert.deepEqual(
      new Set(records.map(({ tokens }) => tokens?.input_total)),
      new Set(records.map((_, at) => 1_001 + at)),
    );
    assert.deepEqual(
      records.map(({ agent_kind: kind }) => kind),
      records.map(({ agent }) => (agent === null ? "main" : "subagent")),
    );
    assert.equal(records.filter(({ agent }) => agent !== null).length, 1);
  });

/** The services say that 62% of the window is used. */
function keepHalf({ name }: PlanTool): RunOptions {
  return { config: { tools: { [name]: { brake: { keep: 50 } } } } };
}

/** The statuses of the requests that the brake kept back. The tool has its first login afterwards, and has not renewed it. */
async function findKept({ home, through, daemon }: Runs, { login }: PlanTool): Promise<(number | null)[]> {
  assert.ok(!through.services.own.seen.some(({ url }) => url.includes("/oauth/token")));
  const [first] = through.asked;
  const secret = first?.headers.authorization?.replace("Bearer ", "") ?? "";
  const saved = Object.keys(login()).map((file) => readFileSync(join(home, file), "utf8"));
  assert.ok(secret !== "" && saved.some((text) => text.includes(secret)));
  const kept = (await daemon.ledger()).filter(({ error_type: code }) => code === "limit_kept");
  return kept.map(({ status }) => status);
}

for (const [plan, script, status] of [
  [CODEX_PLAN, () => chatgpt.chatgptService({ calls: 2 }), 400],
  [CLAUDE_PLAN, () => anthropic.anthropicService({ calls: CALLS.slice(0, 1) }), 429],
] as const)
  test(`${plan.name}@${plan.tool.version} with a plan shows what a brake keeps of its window, asks once, and stays signed in`, async (t) => {
    const runs = await runBoth(t, plan, script, keepHalf(plan));
    if (runs === null) return;
    assert.deepEqual(lastWords(runs.direct), [0, "done\n", []]);
    const { code, stdout, stderr } = runs.through.result;
    assert.equal(code, 1);
    assert.match(
      stdout + stderr,
      new RegExp(
        `tollkeeper: ${plan.name} waits for the 5-hour window of plan:\\S+: 38% of it is left, by the last response, and tools\\.${plan.name}\\.brake\\.keep keeps 50%\\. It resets [^.]+\\. Type: tollkeeper brake remove ${plan.name}`,
      ),
    );
    assert.deepEqual(await findKept(runs, plan), [status]);
  });

const RESETS_SOON = { resetsInSeconds: 20 };

for (const [plan, script, errors] of [
  [
    CODEX_PLAN,
    () => chatgpt.chatgptService({ calls: 1, hasWebSocket: false, ...RESETS_SOON }),
    ["ERROR: Reconnecting... 1/5"],
  ],
  [CLAUDE_PLAN, () => anthropic.anthropicService({ calls: CALLS.slice(0, 1), ...RESETS_SOON }), []],
] as const)
  test(`${plan.name}@${plan.tool.version} with a plan waits for a window that resets soon, and goes on`, async (t) => {
    const runs = await runBoth(t, plan, script, keepHalf(plan));
    if (runs === null) return;
    assert.deepEqual(lastWords(runs.direct), [0, "done\n", []]);
    assert.deepEqual(lastWords(runs.through), [0, "done\n", errors]);
    assert.deepEqual(methodsOf(runs.through), methodsOf(runs.direct));
    assert.deepEqual(await findKept(runs, plan), [429]);
  });
