// Codex's tool for pictures, which it offers with a ChatGPT login only: directly and through tollkeeper it offers its model the same, and
// the pictures have records.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { CODEX, installTool, type InstalledTool } from "../helpers/tools/real-tool.ts";
import { IMAGE_USAGE, madeUpLogin, startChatgpt, type Chatgpt } from "./chatgpt.ts";
import { expectSuccess, runTollkeeper } from "./connect-tool.ts";
import { findSurprises } from "./explained.ts";
import { describeOffer, type Offer } from "./offer.ts";

for (const model of ["gpt-5.5", "gpt-6.2-sol"])
  test(`codex@${CODEX.version} with a ChatGPT login makes pictures with ${model} through tollkeeper as directly, and they have records`, async (t) => {
    const chatgpt = await startChatgpt(t);
    const direct = await open(t, chatgpt);
    if (direct === null) return;
    // At an address like that of chatgpt.com it would first ask which region serves the account.
    const { origin } = chatgpt;
    direct.configure(
      ".codex/config.toml",
      `openai_base_url = "${origin}/v1"\nchatgpt_base_url = "${origin}/backend-api"`,
    );
    const offered = await draw(direct, model, chatgpt);
    const through = await open(t, chatgpt);
    assert.ok(through);
    const daemon = await startDaemon(t, { config: { outbound: chatgpt.outbound } });
    await expectSuccess(
      runTollkeeper(t, daemon, through, "connect", "codex", "--account", "plan", "--model", model, "--yes"),
    );
    const passed = await draw(through, model, chatgpt);
    assert.deepEqual(findSurprises("Codex", offered, passed), {
      lost: [],
      added: [],
      outdated: [],
    });
    assert.ok([...passed].some((line) => /tool image_gen(?:\.|__)imagegen,/.test(line)));
    await assertRecorded(daemon, chatgpt);
  });

/** Installs Codex, signed in. Returns null, with the test skipped, where it cannot be installed. */
async function open(t: TestContext, { env }: Chatgpt): Promise<InstalledTool | null> {
  const tool = await installTool(t, CODEX);
  if (tool === null) return null;
  tool.configure(".codex/auth.json", madeUpLogin());
  Object.assign(tool.env, env);
  return tool;
}

/** Has Codex make a picture. Returns what it asked for. */
async function draw(tool: InstalledTool, model: string, { requests, answered }: Chatgpt): Promise<Offer> {
  requests.length = 0;
  answered.length = 0;
  const options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
  const output = await expectSuccess(tool.run("exec", ...options, "-c", `model="${model}"`, "draw"));
  assert.match(output, /done/);
  assert.equal(answered.filter((what) => what === "image").length, 1);
  return describeOffer(requests);
}

async function assertRecorded(daemon: Daemon, { answered }: Chatgpt): Promise<void> {
  const records = await daemon.ledger();
  const spending = records.filter(({ spend }) => spend === "count");
  assert.deepEqual(
    spending.map(({ route, response_id: id }) => id ?? route.replace("/images/generations", "image")),
    answered,
  );
  assert.deepEqual(
    spending
      .filter(({ route }) => route === "/images/generations")
      .map(({ usage, tokens, tool, upstream }) => [
        usage,
        tokens?.input_total,
        tokens?.output,
        tool,
        upstream,
      ]),
    [["final", IMAGE_USAGE.input, IMAGE_USAGE.output, "codex", "plan:chatgpt"]],
  );
}
