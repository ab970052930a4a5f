// An upstream that passes the own keys of tools (docs/upstreams.md): what the commands say of it, and that the key is in nothing that they
// print, and in no file.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { post } from "../../helpers/gate/gate.ts";
import { sendJson, startUpstream, type SeenRequest } from "../../helpers/upstream/scripted-upstream.ts";

const OWN_KEY = "own.sentinel.4711.do.not.leak";
const BODY = { model: "claude-sonnet-4-5", max_tokens: 9, messages: [] };
const LIMIT = { timeout: 300_000 };

/** Repeats the key wherever a response has a place for it. */
function respond({ headers }: SeenRequest, res: Parameters<typeof sendJson>[0]): void {
  const key = String(headers["x-api-key"]);
  res.setHeader("anthropic-ratelimit-requests-limit", "100");
  res.setHeader("anthropic-ratelimit-requests-remaining", "40");
  res.setHeader("anthropic-ratelimit-requests-reset", new Date(Date.now() + 3_600_000).toISOString());
  res.setHeader("request-id", key);
  if (headers["x-fail"] !== undefined) {
    sendJson(res, { type: "error", error: { type: "authentication_error", message: `no ${key}` } }, 401);
    return;
  }
  const usage = { input_tokens: 100_000, output_tokens: 0 };
  sendJson(res, { id: `msg_${key}`, type: "message", model: BODY.model, content: [], usage });
}

async function start(t: TestContext) {
  const { baseUrl, seen } = await startUpstream(t, respond);
  const upstreams = { own: { baseUrl, apis: ["messages"], credential: "client" } };
  const daemon = await startDaemon(t, { config: { upstreams }, args: ["--debug"], env: { DEBUG: "*" } });
  return { daemon, seen, baseUrl };
}

test(
  "route, status, doctor, key and connect say that the tool's own key pays, and ask for none",
  LIMIT,
  async (t) => {
    const { daemon, baseUrl } = await start(t);
    const route = await daemon.command("route", BODY.model);
    assert.match(route.stdout, /→ own, with the tool's own key \(messages\)/);
    const [explained] = parseJsonOutput((await daemon.command("route", BODY.model, "--json")).stdout) as [
      { choices: { credential: string; key: string | null }[] },
    ];
    assert.deepEqual(
      explained.choices.map(({ credential, key }) => [credential, key]),
      [["client", null]],
    );
    const status = await daemon.command("status");
    assert.equal(status.code, 0, status.stdout);
    assert.ok(status.stdout.includes(`own: ${baseUrl}, with the key that each tool sends\n`), status.stdout);
    assert.doesNotMatch(status.stdout, /^key /m);
    assert.equal((await daemon.status()).upstreams[0]?.credential, "client");
    const doctor = await daemon.command("doctor");
    assert.match(doctor.stdout, /upstream own takes the key that each tool sends/);
    assert.match(doctor.stdout, /own: not checked, because only tools have a key for it/);
    for (const words of [
      ["key", "test"],
      ["key", "set"],
      ["key", "remove", "--yes"],
    ]) {
      const { code, stderr } = await daemon.command(...words);
      assert.equal(code, 1, words.join(" "));
      assert.match(
        stderr,
        /takes only the keys that tools send.*\n.*config unset upstreams\.own\.credential/,
      );
    }
    assert.match((await daemon.command("key", "list")).stdout, /names no key/);
    for (const words of [
      ["connect", "claude-code", "--yes", "--account", "key"],
      ["run", "--tool", "claude-code", "--", "true"],
    ]) {
      const { code, stderr } = await daemon.command(...words);
      assert.equal(code, 1, words.join(" "));
      assert.match(
        stderr,
        /only upstreams that take its own key: own.*\n.*127\.0\.0\.1:\d+\/t\/claude-code$/m,
      );
    }
    assert.match((await daemon.command("config", "check")).stdout, /the key that each tool sends/);
  },
);

test(
  "a request with the tool's own key is in reports and limits by its account, in no cost, and the key is nowhere",
  LIMIT,
  async (t) => {
    const { daemon, seen } = await start(t);
    const headers = { "x-api-key": OWN_KEY, "user-agent": `zed/1 ${OWN_KEY}` };
    const texts: string[] = [];
    const send = async (more: Record<string, string> = {}) => {
      const response = await post(daemon, "/t/zed/v1/messages", BODY, { ...headers, ...more });
      texts.push(JSON.stringify([...response.headers]), response.status === 200 ? "" : await response.text());
      return response.status;
    };
    assert.deepEqual(
      [await send(), await send({ "x-fail": "1" }), await send({ authorization: "Bearer tk-zed" })],
      [200, 401, 402],
    );
    assert.equal(seen.length, 2);
    const usage = await daemon.command("usage", "--by", "tool", "--wide");
    assert.match(usage.stdout, /own keys .* paid by/);
    assert.match(usage.stdout, /zed +own +\$0\.30\d* .* own /);
    assert.match(
      usage.stdout,
      /Own keys of tools: paid for 1 of 1 request, for \$0\.3000 at list prices\. That is in no cost\./,
    );
    const { total } = JSON.parse((await daemon.command("usage", "--json")).stdout) as {
      total: Record<string, unknown>;
    };
    assert.deepEqual(
      [total["cost_usd"], total["own_worth_usd"], total["own_requests"], total["plan_worth_usd"]],
      ["0", "0.3", 1, null],
    );
    const byAccount = await daemon.command("usage", "--by", "account");
    assert.match(byAccount.stdout, /own:own\/[0-9a-f]{8}/);
    assert.match((await daemon.command("limits")).stdout, /own:own\/[0-9a-f]{8}/);
    const [first] = await daemon.ledger();
    const explain = await daemon.command("explain", first?.id ?? "");
    const page = explain.stdout.replaceAll(/\s+/g, " ");
    assert.match(page, /and the tool's own key paid \$0\.30/);
    assert.match(page, /where own \(http.*\), with the tool's own key/);
    assert.match(page, /cost nothing here: the tool's own key paid \$0\.30\d* at list prices/);
    const refused = await daemon.command("explain", "last");
    assert.match(refused.stdout.replaceAll(/\s+/g, " "), /it had no key of the tool's own that could pass/);
    const priced = await daemon.command("prices", "--record", first?.id ?? "");
    assert.match(priced.stdout, /own: the tool's own key paid/);
    for (const words of [
      "status",
      "status --json",
      "limits --json",
      "usage --csv",
      "tail --json --last 5",
      "metrics",
    ]) {
      const { stdout, stderr } = await daemon.command(...words.split(" "));
      texts.push(stdout, stderr);
    }
    for (const { stdout, stderr } of [usage, byAccount, explain, refused, priced]) texts.push(stdout, stderr);
    assert.equal(await daemon.stop(), 0);
    texts.push(daemon.stdout(), daemon.stderr(), ...filesBelow(daemon.home));
    for (const text of texts) assert.ok(!text.includes(OWN_KEY), text.slice(0, 2_000));
  },
);

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [readFileSync(path, "latin1")] : [];
  });
}
