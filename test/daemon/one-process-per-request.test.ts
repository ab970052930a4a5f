// Scripts that live for one request: no process of theirs is known when the request arrives.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { respondWithMessage, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

const notLinux =
  process.platform !== "linux" && "needs Linux: elsewhere a look takes longer than a script lives";
const OPTIONS = { skip: notLinux, timeout: 300_000 };

/** A token of input costs 0.001 dollars, one of output 0.01: a message 0.003 + 0.02. */
const PRICES = { "*": { input: 1_000, output: 10_000 } };
const SPENT_BY_TWO = [{ usd: 0.03, per: "day" }];

const SCRIPT = `
import { request } from "node:http";
const body = JSON.stringify({ model: "m", max_tokens: 2, messages: [] });
const headers = { "content-type": "application/json", "content-length": body.length };
request(process.env.URL + "/v1/messages", { method: "POST", headers }, (response) => {
  response.resume().on("end", () => console.log(response.headers["x-tollkeeper-refusal"] ?? response.statusCode));
}).end(body);
`;

async function start(t: TestContext, config: object): Promise<Daemon> {
  const upstream = await startUpstream(t, respondWithMessage);
  return startDaemon(t, {
    config: { ...writeKeyFile(t, upstream.baseUrl, "some-key").config, prices: PRICES, ...config },
  });
}

/** Runs the script so many times in a directory, one after the other. Returns what it printed. */
async function runScript({ url }: Daemon, directory: string, times: number): Promise<string[]> {
  const path = join(directory, "nightly.mjs");
  writeFileSync(path, SCRIPT);
  const printed: string[] = [];
  for (let run = 0; run < times; run += 1) {
    const script = spawn(process.execPath, [path], {
      cwd: directory,
      env: { URL: url },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [shown] = await Promise.all([text(script.stdout), once(script, "exit")]);
    printed.push(shown.trim());
  }
  return printed;
}

test(
  "a budget for a script that only its process names holds, though each request is a new process",
  OPTIONS,
  async (t) => {
    const daemon = await start(t, { tools: { nightly: { budgets: SPENT_BY_TWO } } });
    const printed = await runScript(daemon, scratchDirectory(t), 4);
    assert.deepEqual(printed, ["200", "200", "budget_spent", "budget_spent"]);
    assert.deepEqual(new Set((await daemon.ledger()).map(({ tool }) => tool)), new Set(["nightly"]));
  },
);

test("a project's budget holds, though each request is a new process", OPTIONS, async (t) => {
  const shop = join(scratchDirectory(t), "shop");
  mkdirSync(join(shop, ".git"), { recursive: true });
  const daemon = await start(t, {
    projects: { [shop]: { budgets: SPENT_BY_TWO } },
    ledger: { project: true },
  });
  assert.deepEqual(await runScript(daemon, shop, 4), ["200", "200", "budget_spent", "budget_spent"]);
});
