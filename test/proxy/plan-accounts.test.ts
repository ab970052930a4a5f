// Two accounts at the service of one plan are told apart in records and limits, by a hash. What the service calls them is kept nowhere.
import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { accountSalt } from "../../src/adapters/state-file/account-salt.ts";
import { HeaderIndex } from "../../src/core/http/header-index.ts";
import { accountOf } from "../../src/core/plans/names.ts";
import { PLANS, type Plan } from "../../src/core/plans/plans.ts";
import { DaemonLimits } from "../../src/daemon/limits.ts";
import { PlanAccounts } from "../../src/proxy/plan-accounts.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { CHATGPT_HEADERS, CLAUDE_HEADERS, startGateWithPlans } from "../helpers/gate/gate-with-plans.ts";
import { post, waitUntilHandled, type TestGate } from "../helpers/gate/gate.ts";
import { ManualClock, MemoryLog } from "../helpers/gate/memory.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { respondWithMessage, type Script } from "../helpers/upstream/scripted-upstream.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };
const CLAUDE = "/t/claude-code/plan/v1/messages";
const CODEX = "/t/codex/plan/v1/responses";
const OTHER_LOGIN = { authorization: "Bearer sk-ant-oat01-another-login-of-claude-0815" };
const OTHER_ACCOUNT = { ...CHATGPT_HEADERS, "chatgpt-account-id": "acct-other-0815" };

/** Responds as the service of Claude: with the organization of the login, and how much of its window is used. */
const asClaude: Script = (request, res) => {
  const isOther = request.headers.authorization === OTHER_LOGIN.authorization;
  res.setHeader("anthropic-organization-id", isOther ? "org-other-0815" : "org-sentinel-4711");
  res.setHeader("anthropic-ratelimit-unified-5h-utilization", isOther ? "0.2" : "0.95");
  res.setHeader("anthropic-ratelimit-unified-5h-reset", "2026-11-21T14:00:00Z");
  return respondWithMessage(request, res);
};

async function start(t: TestContext) {
  const clock = new ManualClock();
  const path = join(scratchDirectory(t), "limits.json");
  const limits = new DaemonLimits({ path, clock, log: new MemoryLog(), warn: () => {} });
  t.after(() => limits.close());
  const config = rulesForTools({ tools: { "claude-code": { brake: { keep: 10 } } } });
  const { gate } = await startGateWithPlans(t, asClaude, { config, clock, limits });
  return { gate, limits, path };
}

async function send(gate: TestGate, path: string, headers: Record<string, string>): Promise<number> {
  const response = await post(gate, path, BODY, headers);
  await response.text();
  return response.status;
}

test("records and limits tell two logins of one service apart, from the first request on", async (t) => {
  const { gate, limits, path } = await start(t);
  assert.equal(await send(gate, CLAUDE, CLAUDE_HEADERS), 200);
  assert.equal(await send(gate, CLAUDE, OTHER_LOGIN), 200);
  assert.equal(await send(gate, CLAUDE, CLAUDE_HEADERS), 429, "too little is left of this account");
  assert.equal(await send(gate, CLAUDE, OTHER_LOGIN), 200);
  for (const headers of [CHATGPT_HEADERS, OTHER_ACCOUNT, CHATGPT_HEADERS]) await send(gate, CODEX, headers);
  await waitUntilHandled(gate);
  const keys = gate.ledger.records.map(({ upstream, key }) => {
    assert.match(key, new RegExp(`^${upstream}/[0-9a-f]{8}$`));
    assert.equal(accountOf(upstream, key), key);
    return key;
  });
  const [one, other, refused, again, first, second, third] = keys;
  assert.deepEqual([refused, again, third], [one, other, first]);
  assert.equal(new Set([one, other, first, second]).size, 4);
  const used = limits.describe().map(({ account, windows }) => [account, windows[0]?.usedPercent]);
  assert.deepEqual(new Map(used as [string, number][]).get(one ?? ""), 95);
  assert.deepEqual(new Map(used as [string, number][]).get(other ?? ""), 20);
  const written = JSON.stringify([gate.ledger.records, gate.log.lines]) + readFileSync(path, "utf8");
  for (const id of ["4711", "0815"]) assert.ok(!written.includes(id), id);
});

const [claude, chatgpt] = PLANS;

const NO_HEADERS = new HeaderIndex([]);

/** The plan as its requests have it before its account is known. */
function unnamed(plan: Plan) {
  return { plan, key: { name: plan.name } };
}

function nameOf(accounts: PlanAccounts, account: string): string {
  const headers = new HeaderIndex(["chatgpt-account-id", account]);
  assert.ok(chatgpt);
  return accounts.learn(unnamed(chatgpt), headers, NO_HEADERS) ?? "";
}

test("the hash depends on the installation's salt and on the service, and the number of names is bounded", () => {
  const [here, there] = [1, 2].map((byte) => new PlanAccounts(() => Buffer.alloc(32, byte)));
  assert.ok(here && there && claude);
  assert.equal(nameOf(here, "acct"), nameOf(here, "acct"));
  assert.notEqual(nameOf(here, "acct"), nameOf(there, "acct"));
  const response = new HeaderIndex(["anthropic-organization-id", "acct"]);
  const ofClaude = here.learn(unnamed(claude), NO_HEADERS, response) ?? "";
  assert.notEqual(ofClaude.split("/")[1], nameOf(here, "acct").split("/")[1]);
  const names = Array.from({ length: 100 }, (_, at) => nameOf(here, `acct-${at}`));
  assert.ok(new Set(names).size <= 33);
  assert.equal(names.at(-1), "plan:chatgpt");
});

test("an account is learnt once for a login: the response to a request that has its name is not looked at", () => {
  const accounts = new PlanAccounts(() => Buffer.alloc(32));
  assert.ok(claude);
  const request = new HeaderIndex(["authorization", CLAUDE_HEADERS.authorization]);
  const response = new HeaderIndex(["anthropic-organization-id", "org-sentinel-4711"]);
  const learnt = accounts.learn(unnamed(claude), request, response);
  assert.match(learnt ?? "", /^plan:claude\/[0-9a-f]{8}$/);
  const named = { plan: claude, key: { name: learnt ?? "" } };
  const unread = { plan: { ...claude, findAccount: () => assert.fail("it was looked at") }, key: named.key };
  assert.equal(accounts.learn(unread, request, response), null);
});

test("the salt is created once, only for its owner, and one that others could write is not used", (t) => {
  const path = join(scratchDirectory(t), "account-salt");
  const log = new MemoryLog();
  const salt = accountSalt(path, log);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(accountSalt(path, log), salt);
  assert.equal(log.lines.length, 0);
  writeFileSync(path, "damaged");
  assert.notDeepEqual(accountSalt(path, log), salt);
  chmodSync(path, 0o622);
  accountSalt(path, log);
  assert.match(JSON.stringify(log.lines), /cannot be read or written/);
});
