// `status` and `usage` say which account pays for each tool, and what would change that.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemonWithUpstream } from "../../helpers/daemon/daemon-with-upstream.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const DIVERSION =
  "takes the place of the plan's login: Claude Code sends it instead of its login, and tollkeeper refuses such requests";
const FIX = "unset ANTHROPIC_API_KEY, and remove it from where it is set; then the plan pays";

/** Starts a daemon to which Claude Code is connected with its plan, and Codex with a key. */
async function start(t: TestContext) {
  const { daemon } = await startDaemonWithUpstream(t);
  for (const [tool, account] of [
    ["claude-code", "plan"],
    ["codex", "key"],
  ] as const) {
    const { code, stderr } = await daemon.command("connect", tool, "--account", account, "--yes");
    assert.equal(code, 0, stderr);
  }
  const withKey = (...words: string[]) =>
    runProgram(words, { env: { ...daemon.env, ANTHROPIC_API_KEY: "sk-of-mine" } });
  return { ...daemon, withKey };
}

test("status says for each connected tool which account pays, and warns of what takes the place of a plan's login", async (t) => {
  const { command, withKey } = await start(t);
  const { stdout } = await command("status");
  const lines =
    'tool        claude-code: its plan pays, with its own login\ntool        codex: your API key pays: "default"\n';
  assert.ok(stdout.includes(lines), stdout);
  assert.doesNotMatch(stdout, /takes the place/);
  const warned = await withKey("status");
  assert.equal(warned.code, 0);
  assert.ok(
    warned.stdout.includes(
      `claude-code: its plan does not pay yet, because of this:\n            the environment (ANTHROPIC_API_KEY) ${DIVERSION}; ${FIX}\n`,
    ),
    warned.stdout,
  );
  const { tools } = parseJsonOutput((await withKey("status", "--json")).stdout) as { tools: unknown };
  const where = "the environment (ANTHROPIC_API_KEY)";
  assert.deepEqual(tools, [
    {
      tool: "claude-code",
      directory: null,
      account: "plan",
      keys: [],
      ownKeyAt: [],
      conflicts: [{ where, what: DIVERSION, fix: FIX }],
    },
    { tool: "codex", directory: null, account: "key", keys: ["default"], ownKeyAt: [], conflicts: [] },
  ]);
});

test("status says of a connected tool without a key that no upstream takes one", async (t) => {
  const { command } = await startDaemon(t);
  await command("connect", "codex", "--yes");
  assert.match((await command("status")).stdout, /^tool +codex: no upstream takes a key, so no key pays$/m);
});

test("usage has the requests that a plan paid by tool and by account, and warns of what takes the place of its login", async (t) => {
  const { home, configFile, command, withKey } = await start(t);
  const byPlan = { tool: "claude-code", upstream: "plan:claude", key: "plan:claude" };
  const ts = new Date().toISOString();
  const records = [byPlan, byPlan, { tool: "codex" }].map((one) => usageRecord({ ts, ...one }));
  const ledger = join(home, "state", "tollkeeper", "ledger");
  mkdirSync(ledger, { recursive: true, mode: 0o700 });
  const text = records.map((one) => `${JSON.stringify(one)}\n`).join("");
  writeFileSync(join(ledger, `${ts.slice(0, 10)}.ndjson`), text, { mode: 0o600 });
  const usage = async (...words: string[]) => (await command("usage", "--utc", ...words)).stdout;
  assert.match(await usage(), /^claude-code +plan .* plan +2 /m);
  assert.match(await usage(), /^Plans: paid for 2 of 3 requests, worth \$\S+ at the prices of a key\./m);
  assert.match(await usage("--by", "account"), /^key +\S+ +1 [^]*^plan +plan +\S+ +2 /m);
  assert.match(await usage("--csv", "--by", "tool,account"), /^claude-code,plan,2,.*,2,true,/m);
  const { rows } = parseJsonOutput(await usage("--json")) as { rows: Record<string, unknown>[] };
  assert.deepEqual(
    rows.map(({ tool, planRequests }) => [tool, planRequests]),
    [
      ["codex", 0],
      ["claude-code", 2],
    ],
  );
  assert.doesNotMatch(await usage(), /takes the place/);
  const warned = await withKey("usage", "--utc", "--config", configFile);
  assert.ok(
    warned.stdout.includes(
      `Claude Code is connected, but the environment (ANTHROPIC_API_KEY) ${DIVERSION}.\n  -> ${FIX}\n`,
    ),
    warned.stdout + warned.stderr,
  );
});

test("status, doctor and usage warn where connect sdk has set in this shell what comes before a saved login", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, undefined, { config: { plans: ["claude-code"] } });
  const { home, env, configFile } = daemon;
  mkdirSync(join(home, ".claude"));
  writeFileSync(join(home, ".claude", ".credentials.json"), "", { mode: 0 });
  const ts = new Date().toISOString();
  const ledger = join(home, "state", "tollkeeper", "ledger");
  mkdirSync(ledger, { recursive: true, mode: 0o700 });
  writeFileSync(join(ledger, `${ts.slice(0, 10)}.ndjson`), `${JSON.stringify(usageRecord({ ts }))}\n`, {
    mode: 0o600,
  });
  const bySdk = { ANTHROPIC_API_KEY: "tk-sdk", ANTHROPIC_BASE_URL: `${daemon.url}/t/sdk` };
  const what =
    "Claude Code is signed in, but in this shell your key pays: ANTHROPIC_API_KEY comes before its login";
  for (const words of [["status"], ["doctor"], ["usage", "--utc"]]) {
    const inShell = (more: object) =>
      runProgram([...words, "--config", configFile], { env: { ...env, ...more } });
    const warned = await inShell(bySdk);
    assert.ok(warned.stdout.includes(what), `${words[0]}: ${warned.stdout}${warned.stderr}`);
    assert.match(warned.stdout, /tollkeeper connect claude-code --account key/);
    assert.ok(!(await inShell({ ...bySdk, ANTHROPIC_API_KEY: "sk-of-mine" })).stdout.includes(what));
  }
  await daemon.command("connect", "claude-code", "--account", "key", "--yes");
  const settled = await runProgram(["status"], { env: { ...env, ...bySdk } });
  assert.ok(!settled.stdout.includes(what), settled.stdout);
});

test("status is shown where what connect has kept cannot be read, and says that who pays is not known", async (t) => {
  const { home, command } = await start(t);
  const directory = join(home, "state", "tollkeeper", "connections");
  const journal =
    readdirSync(directory).find((name) => name.startsWith("codex") && name.endsWith(".json")) ?? "";
  writeFileSync(join(directory, journal), "{");
  const { code, stdout } = await command("status");
  assert.equal(code, 0);
  assert.match(stdout, /^tool +who pays is not known: /m);
  const { tools } = parseJsonOutput((await command("status", "--json")).stdout) as { tools: unknown };
  assert.equal(tools, null);
});
