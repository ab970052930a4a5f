// Tools that use the WebSocket mode of the Responses API, with an upstream that keeps books: through tollkeeper they send and get the
// same as without it, and each response has a record that equals the books.
import assert from "node:assert/strict";
import { copyFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { runBounded } from "../helpers/process/run-bounded.ts";
import {
  CODEX,
  createToolHome,
  installTool,
  skipUnavailable,
  type InstalledTool,
  type RealTool,
} from "../helpers/tools/real-tool.ts";
import { installPackages, PLATFORM, type ToolPackage } from "../helpers/tools/tool-packages.ts";
import { COMPACTION_LIMIT, startBookkeepingUpstream, type BookkeepingUpstream } from "./turn-books.ts";

const MODEL = "gpt-5.5";

/** Two runs differ by so much in their bytes, because of ids and times: a message that is not compressed has several times as many. */
const MOST_MORE = 1.25;

const COPILOT: RealTool = {
  package: "@github/copilot",
  version: "1.0.102",
  program: "copilot",
  entry: `@github/copilot-${PLATFORM}/copilot`,
  runner: "itself",
};

const OPENCODE: RealTool = {
  package: "opencode-ai",
  version: "1.18.33",
  program: "opencode",
  entry: `opencode-${PLATFORM}/bin/opencode`,
  runner: "itself",
};

/** A library, and a program that takes ten tool calls with it over one WebSocket. */
interface SocketLibrary extends ToolPackage {
  /** File in programs/. */
  program: string;
  /** How many responses it asks for. */
  responses: number;
}

const LIBRARIES: readonly SocketLibrary[] = [
  { package: "@openai/agents", version: "0.20.0", program: "openai-agents-websocket.mjs", responses: 11 },
  {
    // `ResponsesWS`. The first of its responses is only prepared.
    package: "openai",
    version: "7.59.0",
    additional: ["ws@8.23.0"],
    program: "openai-responses-ws.mjs",
    responses: 12,
  },
];

/** A tool that talks to a base URL. */
interface Client {
  name: string;
  tool: RealTool;
  calls: number;
  /** What it runs in place of a command: a search, each time. */
  code?: string;
  /** What its session must have besides responses: see `kinds`. */
  kinds: readonly string[];
  run(tool: InstalledTool, baseUrl: string): Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** Codex before a provider that it takes for OpenAI. */
const runCodex =
  (model: string): Client["run"] =>
  (tool, baseUrl) => {
    tool.configure(
      ".codex/config.toml",
      [
        `model = "${model}"`,
        `model_auto_compact_token_limit = ${COMPACTION_LIMIT}`,
        'model_provider = "lab"',
        "[model_providers.lab]",
        'name = "OpenAI"',
        `base_url = "${baseUrl}"`,
        'wire_api = "responses"',
        "supports_websockets = true",
        'experimental_bearer_token = "some-token"',
      ].join("\n"),
    );
    return tool.run("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "do it");
  };

const CLIENTS: readonly Client[] = [
  {
    name: "codex",
    tool: CODEX,
    calls: 10,
    kinds: ["warm-up", "compaction", "search"],
    run: runCodex(MODEL),
  },
  {
    // Its searches are requests of their own.
    name: "codex gpt-6.2-sol",
    tool: CODEX,
    calls: 2,
    code: 'text(JSON.stringify(await tools.web__run({ search_query: [{ q: "tolls" }] })));',
    kinds: ["warm-up", "response"],
    run: runCodex("gpt-6.2-sol"),
  },
  {
    name: "opencode",
    tool: OPENCODE,
    calls: 0,
    kinds: [],
    run(tool, baseUrl) {
      // It opens a WebSocket only with a stored login.
      tool.configure(
        ".local/share/opencode/auth.json",
        JSON.stringify({ openai: { type: "api", key: "some-token" } }),
      );
      const options = { baseURL: baseUrl };
      tool.configure(
        ".config/opencode/opencode.json",
        JSON.stringify({
          provider: { openai: { options } },
          model: `openai/${MODEL}`,
          autoupdate: false,
          share: "disabled",
        }),
      );
      tool.env["OPENCODE_EXPERIMENTAL_WEBSOCKETS"] = "true";
      return tool.run("run", "hello");
    },
  },
  {
    name: "copilot",
    tool: COPILOT,
    calls: 0,
    kinds: [],
    run(tool, baseUrl) {
      Object.assign(tool.env, {
        COPILOT_PROVIDER_BASE_URL: baseUrl,
        COPILOT_PROVIDER_TYPE: "openai",
        COPILOT_PROVIDER_WIRE_API: "responses",
        COPILOT_PROVIDER_TRANSPORT: "websockets",
        COPILOT_PROVIDER_API_KEY: "some-token",
        COPILOT_MODEL: MODEL,
      });
      return tool.run("-p", "hello", "--allow-all-tools");
    },
  },
];

/** What a run has sent, without what differs from run to run. */
interface Run {
  seconds: number;
  upstream: BookkeepingUpstream;
  bytes: number;
}

async function run(
  t: TestContext,
  client: Client,
  tool: InstalledTool,
  daemon: (baseUrl: string) => Promise<Daemon | null>,
): Promise<Run & { daemon: Daemon | null }> {
  const upstream = await startBookkeepingUpstream(t, client);
  const started = await daemon(upstream.baseUrl);
  const from = performance.now();
  const { code, stdout, stderr } = await client.run(
    tool,
    started === null ? upstream.baseUrl : `${started.url}/v1`,
  );
  const seconds = (performance.now() - from) / 1000;
  assert.equal(code, 0, stdout + stderr);
  const found = await waitUntil("the end of the connections", () =>
    upstream.bytes() > 0 ? upstream.bytes() : null,
  );
  return { seconds, upstream, bytes: found, daemon: started };
}

for (const client of CLIENTS) {
  test(`${client.name}@${client.tool.version} over WebSockets sends the same through tollkeeper, and the records equal the books`, async (t) => {
    const tool = await installTool(t, client.tool);
    if (tool === null) return;
    const direct = await run(t, client, tool, () => Promise.resolve(null));
    const through = await run(t, client, tool, (baseUrl) => startDaemonBefore(t, baseUrl));
    for (const [name, { seconds, upstream, bytes }] of Object.entries({ direct, through }))
      t.diagnostic(
        `${client.name} ${name}: ${upstream.handshakes.length} WebSockets, ${upstream.turns.length} responses, ${bytes} bytes, ${seconds.toFixed(1)} s, ${Math.max(...upstream.tools.map((offered) => offered.length))} tools`,
      );
    assert.deepEqual(through.upstream.tools, direct.upstream.tools);
    assert.ok(through.bytes < direct.bytes * MOST_MORE, `${through.bytes} bytes instead of ${direct.bytes}`);
    assert.deepEqual(kinds(through), kinds(direct));
    assert.equal(through.upstream.searches.length, client.code === undefined ? 0 : client.calls);
    assert.equal(direct.upstream.searches.length, through.upstream.searches.length);
    for (const kind of client.kinds) assert.ok(kinds(through).includes(kind), `no ${kind}`);
    await assertRecordsEqualBooks(through.daemon, through.upstream);
  });
}

for (const library of LIBRARIES) {
  test(`${library.package}@${library.version} over WebSockets takes ten tool calls on one, and the records equal the books`, async (t) => {
    const modules = await installPackages(library).catch((error: unknown) => {
      skipUnavailable(t, library, error);
      return null;
    });
    if (modules === null) return;
    const { home, work, env } = createToolHome(t);
    symlinkSync(modules, join(home, "node_modules"));
    const program = join(home, library.program);
    copyFileSync(new URL(`programs/${library.program}`, import.meta.url), program);
    const runBefore = async (baseUrl: string) => {
      const { stdout, stderr } = await runBounded(
        t,
        [process.execPath, "--experimental-websocket", program],
        {
          home,
          work,
          env: { ...env, OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: "some-token" },
        },
      );
      assert.equal(stdout.trim(), "done", stderr);
    };
    const direct = await startBookkeepingUpstream(t, { calls: 10 });
    await runBefore(direct.baseUrl);
    const through = await startBookkeepingUpstream(t, { calls: 10 });
    const daemon = await startDaemonBefore(t, through.baseUrl);
    await runBefore(`${daemon.url}/v1`);
    for (const { handshakes, turns } of [direct, through])
      assert.deepEqual([handshakes.length, turns.length], [1, library.responses]);
    assert.deepEqual(through.turns, direct.turns);
    assert.deepEqual(through.tools, direct.tools);
    await assertRecordsEqualBooks(daemon, through);
  });
}

/** Returns what each response was, in their order. */
function kinds({ upstream }: Run): string[] {
  return upstream.turns.map(({ isWarmup, isCompaction, searches }) =>
    isWarmup ? "warm-up" : isCompaction ? "compaction" : searches > 0 ? "search" : "response",
  );
}

/** Starts tollkeeper before an upstream with WebSockets. */
function startDaemonBefore(t: TestContext, baseUrl: string): Promise<Daemon> {
  const { config } = writeKeyFile(t, baseUrl, "some-key");
  return startDaemon(t, {
    config: { upstreams: { default: { ...config.upstreams.default, websocket: "auto" } } },
  });
}

/**
 * Each response has one record, in the order of the books, with its tokens, and each search one of unknown usage. At least
 * one response came over a WebSocket.
 */
async function assertRecordsEqualBooks(
  daemon: Daemon | null,
  { turns, searches: ownSearches }: BookkeepingUpstream,
): Promise<void> {
  assert.ok(
    turns.some(({ transport }) => transport === "websocket"),
    "none came over a WebSocket",
  );
  const records = (await daemon?.ledger()) ?? [];
  assert.deepEqual(
    records
      .filter(({ route }) => route === "/responses")
      .map(({ response_id: id, tokens, flags, status, server_tools }) => [
        id,
        tokens?.input_total,
        tokens?.output,
        flags.includes("warmup"),
        status,
        server_tools?.["web_search"] ?? 0,
      ]),
    turns.map(({ id, input, output, isWarmup, transport, searches }) => [
      id,
      input,
      output,
      isWarmup,
      transport === "post" ? 200 : 101,
      searches,
    ]),
  );
  assert.deepEqual(
    records.filter(({ route }) => route === "/alpha/search").map(({ usage, tokens }) => [usage, tokens]),
    ownSearches.map(() => ["absent", null]),
  );
}
