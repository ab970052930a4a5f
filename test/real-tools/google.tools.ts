// Google's own SDK, LangChain's and the AI SDK's providers for it, and Gemini CLI: they get through tollkeeper what they get without it, and
// the ledger has what the sandbox has billed.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { TEST_KEY } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { assertLedgerMatchesBilling } from "../helpers/ledger/sandbox-billing.ts";
import { runBounded } from "../helpers/process/run-bounded.ts";
import { installTool } from "../helpers/tools/real-tool.ts";
import { openSandbox } from "../sandbox/sandbox-client.ts";
import { expectSuccess, runTollkeeper } from "./connect-tool.ts";
import { snapshot, writeSeeds } from "./home-files.ts";
import { installLibrary, type Library } from "./libraries.ts";
import { BASHRC_SEEDS } from "./seeds.ts";
import { GEMINI_CLI } from "./tools.ts";

const LIBRARIES: readonly Library[] = [
  { package: "@google/genai", version: "3.3.0", program: "google-genai.mjs", unmarked: [] },
  {
    package: "@langchain/google-genai",
    version: "2.3.2",
    additional: ["@langchain/core@1.4.0"],
    program: "google-langchain.mjs",
    unmarked: [],
  },
  {
    package: "@ai-sdk/google",
    version: "4.0.121",
    additional: ["ai@7.0.173"],
    program: "google-ai-sdk.mjs",
    unmarked: [],
  },
];

/** Settings as a user has them who has used Gemini CLI before, and a start-up file. */
const SEEDS = { ".gemini/settings.json": '{\n  // mine\n  "ui": { "hideTips": true }\n}\n', ...BASHRC_SEEDS };

/** It reads its variables from a shell's start-up file, and asks whether the folder is trusted. */
const IN_SHELL = ["bash", "-c", '. ~/.bashrc && export GEMINI_CLI_TRUST_WORKSPACE=true && exec "$@"', "bash"];

const openBooks = (t: TestContext) =>
  openSandbox(t, { keys: [{ name: "default", secret: TEST_KEY, group: "all" }] });

/** Starts a daemon before a sandbox, which keeps books. */
async function startBeforeBooks(t: TestContext) {
  const books = await openBooks(t);
  const { config } = writeKeyFile(t, books.baseUrl, TEST_KEY);
  const upstream = { ...config.upstreams.default, apis: ["gemini" as const] };
  return { books, daemon: await startDaemon(t, { config: { upstreams: { default: upstream } } }) };
}

/** What is refused is in no books. */
const completedOf = (records: readonly UsageRecord[]) =>
  records.filter(({ outcome }) => outcome === "completed");

for (const library of LIBRARIES)
  test(`${library.package}@${library.version} gets through tollkeeper what it gets without it, and the ledger equals the books`, async (t) => {
    const installed = await installLibrary(t, library);
    if (installed === null) return;
    const { toolHome, command } = installed;
    const run = async (baseUrl: string, key: string) => {
      const env = { ...toolHome.env, GOOGLE_GEMINI_BASE_URL: baseUrl, GOOGLE_API_KEY: key };
      const { code, stdout, stderr } = await runBounded(t, command, { ...toolHome, env });
      assert.equal(code, 0, stderr);
      return stdout;
    };
    const direct = await run(new URL((await openBooks(t)).baseUrl).origin, TEST_KEY);
    const { daemon, books } = await startBeforeBooks(t);
    assert.equal(await run(`${daemon.url}/t/mine`, "AIza-of-the-tool"), direct);
    const records = await daemon.ledger();
    assert.deepEqual([...new Set(records.map(({ tool }) => tool))], ["mine"]);
    assertLedgerMatchesBilling(completedOf(records), books);
  });

test("gemini-cli is connected, answers, and is disconnected without a trace", async (t) => {
  const installed = await installTool(t, GEMINI_CLI);
  if (installed === null) return;
  writeSeeds(installed.home, SEEDS);
  const paths = Object.keys(SEEDS).map((path) => join(installed.home, path));
  const before = snapshot(paths);
  const { daemon, books } = await startBeforeBooks(t);
  await expectSuccess(runTollkeeper(t, daemon, installed, "connect", "gemini-cli", "--yes"));
  assert.notDeepEqual(snapshot(paths), before);
  const ask = ["-m", "gemini-2.5-flash", "-p", "hello"];
  const { code, stdout, stderr } = await runBounded(t, [...IN_SHELL, GEMINI_CLI.program, ...ask], installed);
  assert.match(stdout, /\[sandbox\] You said: [^]*hello/, stderr);
  assert.equal(code, 0, stderr);
  const records = await daemon.ledger();
  const known = new Set(records.map(({ tool, tool_by }) => `${tool} by ${tool_by}`));
  assert.deepEqual([...known], ["gemini-cli by path"]);
  assertLedgerMatchesBilling(completedOf(records), books);
  await expectSuccess(runTollkeeper(t, daemon, installed, "disconnect", "gemini-cli", "--yes"));
  assert.deepEqual(snapshot(paths), before);
});
