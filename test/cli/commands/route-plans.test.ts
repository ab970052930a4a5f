// `route` says what the address of a tool's plan does at this moment, for a model and for the request of a record.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { editConfig, IN_FORCE } from "../../daemon/config-edits.ts";
import { launchDaemon, type Daemon } from "../../helpers/daemon/daemon.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import { removeDirectory } from "../../helpers/process/scratch-directory.ts";

const LIMIT = { timeout: 300_000 };
const HOUR = 3_600_000;

const MINE = "plan:chatgpt/3f2a91c0";
const OTHERS = "plan:chatgpt/77777777";

/** A configuration with a key, in which this brake slows Codex down. */
function configWith(t: TestContext, brake: object, plans: readonly string[] = ["codex"]) {
  const { config } = writeKeyFile(t, "http://127.0.0.1:9/v1", "some-key");
  return { ...config, plans, tools: { codex: { brake } } };
}

/** Starts a daemon that knows two accounts of a plan, one of them nearly used up, and that has a record of each. */
async function start(t: TestContext, config: object): Promise<Daemon> {
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  t.after(() => removeDirectory(home));
  const state = join(home, "state", "tollkeeper");
  mkdirSync(join(state, "ledger"), { recursive: true, mode: 0o700 });
  const now = Date.now();
  const window = { window: "5h", limit: null, remaining: null, resetsAt: now + HOUR, seenAt: now };
  const accounts = [
    { account: MINE, windows: [{ ...window, usedPercent: 96 }] },
    { account: OTHERS, windows: [{ ...window, usedPercent: 12 }] },
  ];
  writeFileSync(join(state, "limits.json"), JSON.stringify({ v: 1, accounts }), { mode: 0o600 });
  const ts = new Date(now).toISOString();
  const asked = {
    ts,
    tool: "codex",
    route: "/responses",
    model_requested: "gpt-5",
    upstream: "plan:chatgpt",
  };
  const records = [MINE, OTHERS].map((key) => usageRecord({ ...asked, id: idOf(key), key }));
  const text = records.map((one) => `${JSON.stringify(one)}\n`).join("");
  writeFileSync(join(state, "ledger", `${ts.slice(0, 10)}.ndjson`), text, { mode: 0o600 });
  const { ready, kill } = launchDaemon(home, { config });
  t.after(kill);
  return ready;
}

function idOf(account: string): string {
  return `of-${account.split("/")[1]}`;
}

interface PrintedRoute {
  choices: unknown[];
  plan: { account: string; baseUrl: string; holds: { account: string; window: string }[] } | null;
  refused: { code: string; command: string } | null;
}

async function printRoute(daemon: Daemon, ...words: string[]): Promise<PrintedRoute | undefined> {
  const { stdout } = await daemon.command("route", ...words, "--json");
  return (parseJsonOutput(stdout) as PrintedRoute[])[0];
}

const LIFT = "tollkeeper brake remove codex";
const SERVICE = "https://chatgpt.com/backend-api/codex";

test("route of a record that a plan paid names what a brake keeps of that account", LIMIT, async (t) => {
  const daemon = await start(t, configWith(t, { keep: 10 }));
  const held = await daemon.command("route", "--explain", idOf(MINE));
  assert.equal(held.code, 1);
  assert.match(held.stdout, /: codex requested gpt-5 on \/responses, and plan:chatgpt served it\n/);
  assert.ok(
    held.stdout.includes(
      `\nAt the address of its plan, every request of codex goes to ${SERVICE}, with its own login\n`,
    ),
    held.stdout,
  );
  assert.match(
    held.stdout,
    /\nAt this moment tollkeeper would refuse it: codex waits for the 5-hour window of plan:chatgpt\/3f2a91c0: 4% of it is left, [^\n]+ keeps 10%; it resets [^\n]+\nTo change that, type: tollkeeper brake remove codex\n$/,
  );
  const mine = await printRoute(daemon, "--explain", idOf(MINE));
  assert.deepEqual(
    [mine?.choices, mine?.plan?.account, mine?.plan?.baseUrl, mine?.refused?.code, mine?.refused?.command],
    [[], MINE, SERVICE, "limit_kept", LIFT],
  );
  assert.deepEqual(
    mine?.plan?.holds.map(({ account, window }) => [account, window]),
    [[MINE, "5h"]],
  );

  // Of the other account enough is left.
  const free = await daemon.command("route", "--explain", idOf(OTHERS));
  assert.deepEqual([free.code, /this moment/.test(free.stdout)], [0, false]);
  const others = await printRoute(daemon, "--explain", idOf(OTHERS));
  assert.deepEqual([others?.plan?.holds, others?.refused], [[], null]);
});

test("route of a model names what a brake keeps of the tool's plan", LIMIT, async (t) => {
  const daemon = await start(t, configWith(t, { keep: 10 }));
  const { code, stdout } = await daemon.command("route", "gpt-5", "--tool", "codex", "--api", "responses");
  // A request at the address of a key goes.
  assert.equal(code, 0);
  assert.match(
    stdout,
    /\nAt the address of its plan, codex waits until [^\n]+\nTo let it pass, type: .*codex\n$/,
  );
  const route = await printRoute(daemon, "gpt-5", "--tool", "codex", "--api", "responses");
  assert.deepEqual([route?.plan?.account, route?.refused], ["plan:chatgpt", null]);
  assert.deepEqual(
    route?.plan?.holds.map(({ account }) => account),
    [MINE],
  );
  const other = await printRoute(daemon, "gpt-5", "--tool", "zed", "--api", "responses");
  assert.equal(other?.plan, null);
});

test(
  "route of a record that a plan paid says that the tool is paused, or that its plan is off",
  LIMIT,
  async (t) => {
    const daemon = await start(t, configWith(t, { requestsPerMinute: 60 }));
    await daemon.command("pause", "codex");
    const paused = await daemon.command("route", "--explain", idOf(OTHERS));
    assert.equal(paused.code, 1);
    assert.match(paused.stdout, /\nAt this moment tollkeeper would refuse it: codex is paused/);
    editConfig(daemon, configWith(t, { keep: 10 }, []));
    await daemon.waitForOutput(IN_FORCE);
    const off = await daemon.command("route", "--explain", idOf(MINE));
    assert.equal(off.code, 1);
    assert.match(
      off.stdout,
      /\nWith the present configuration, tollkeeper refuses it: "plans" does not list codex\nTo change that, type: tollkeeper connect codex --account plan\n$/,
    );
    const route = await printRoute(daemon, "--explain", idOf(MINE));
    assert.deepEqual([route?.plan, route?.refused], [null, null]);
  },
);
