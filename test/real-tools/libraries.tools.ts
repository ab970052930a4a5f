import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { assertLedgerMatchesBilling, startDaemonWithSandbox } from "../helpers/ledger/sandbox-billing.ts";
import { runBounded } from "../helpers/process/run-bounded.ts";
import type { CommandResult, Daemon } from "../helpers/daemon/daemon.ts";
import { createToolHome } from "../helpers/tools/real-tool.ts";
import { expectSuccess, runTollkeeper } from "./connect-tool.ts";
import { listFiles, writeSeeds, snapshot, removeMark } from "./home-files.ts";
import { CODEX_SDK, installLibrary, LIBRARIES, type InstalledLibrary, type Library } from "./libraries.ts";
import { keepResult, type Result } from "./results.ts";
import { BASHRC_SEEDS, CODEX_SEEDS } from "./seeds.ts";

const MARK = "my-program";

/** A program that uses a library, ready to run, and a daemon. */
interface LibrarySetup extends InstalledLibrary, Awaited<ReturnType<typeof startDaemonWithSandbox>> {
  t: TestContext;
  library: Library;
}

/** Installs a library and starts a daemon. Returns null, with the test skipped, where it cannot be installed. */
async function openLibrary(t: TestContext, library: Library): Promise<LibrarySetup | null> {
  const installed = await installLibrary(t, library);
  if (installed !== null) return { t, library, ...installed, ...(await startDaemonWithSandbox(t)) };
  keepResult(toResult(library, { installed: "no" }));
  return null;
}

function toResult({ package: name, version }: Library, result: Result): Result {
  return { kind: "libraries", library: name, version, ...result };
}

/** Runs a program. Returns the tool of each request and its kind of evidence, in the ledger's order. */
async function runProgram(
  daemon: Daemon,
  count: number,
  run: () => Promise<CommandResult>,
): Promise<string[]> {
  const before = (await daemon.ledger()).length;
  const { code, stdout, stderr } = await run();
  assert.equal(stdout, "[sandbox] You said: hello\n".repeat(count), stderr);
  assert.equal(code, 0, stderr);
  return (await daemon.ledger()).slice(before).map(({ tool, tool_by }) => `${tool} by ${tool_by}`);
}

/** Variables without the tool's name. */
function unmarkedVariables({ url }: Daemon): Record<string, string> {
  const keys = { ANTHROPIC_API_KEY: "placeholder", OPENAI_API_KEY: "placeholder" };
  return { ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: `${url}/v1`, ...keys };
}

/** Fails unless the requests have the expected tools. Where a tool started this test, its process is stronger evidence than a library. */
function assertUnmarked(identities: readonly string[], { unmarked }: Library): void {
  const isByProcess = (by: string, i: number) =>
    by.endsWith(" by process") && unmarked[i]?.endsWith(" by library");
  assert.deepEqual(
    identities.map((by, i) => (isByProcess(by, i) ? unmarked[i] : by)),
    unmarked,
  );
}

for (const library of LIBRARIES) {
  test(`${library.package}@${library.version} uses the variables that tollkeeper run sets`, async (t) => {
    const setup = await openLibrary(t, library);
    if (setup === null) return;
    const { daemon, sandbox, toolHome, command } = setup;
    const count = library.unmarked.length;
    const marked = await runProgram(daemon, count, () =>
      runTollkeeper(t, daemon, toolHome, "run", "--tool", MARK, "--", ...command),
    );
    assert.deepEqual(marked, Array<string>(count).fill(`${MARK} by path`));
    const env = { ...toolHome.env, ...unmarkedVariables(daemon) };
    const unmarked = await runProgram(daemon, count, () => runBounded(t, command, { ...toolHome, env }));
    assertUnmarked(unmarked, library);
    assertLedgerMatchesBilling(await daemon.ledger(), sandbox);
    keepResult(toResult(library, row(marked, unmarked)));
  });
}

function row(marked: readonly string[], unmarked: readonly string[]): Result {
  return {
    installed: "yes",
    worked: "yes",
    "with mark": joinUnique(marked),
    "without it": joinUnique(unmarked),
  };
}

function joinUnique(identities: readonly string[]): string {
  return [...new Set(identities)].join(", ");
}

test("@openai/codex-sdk uses Codex's settings", async (t) => {
  const setup = await openLibrary(t, CODEX_SDK);
  if (setup === null) return;
  const { daemon, toolHome, command } = setup;
  writeSeeds(toolHome.home, CODEX_SEEDS);
  const before = snapshot(listFiles("codex", toolHome.home));
  await expectSuccess(runTollkeeper(t, daemon, toolHome, "connect", "codex", "--yes"));
  const marked = await runProgram(daemon, 1, () => runBounded(t, command, toolHome));
  assert.deepEqual(marked, ["codex by path"]);
  await expectSuccess(runTollkeeper(t, daemon, toolHome, "disconnect", "codex", "--yes"));
  assert.deepEqual(snapshot(listFiles("codex", toolHome.home)), before);
  await expectSuccess(runTollkeeper(t, daemon, toolHome, "connect", "codex", "--yes"));
  removeMark("codex", toolHome.home);
  const unmarked = await runProgram(daemon, 1, () => runBounded(t, command, toolHome));
  assertUnmarked(unmarked, CODEX_SDK);
  keepResult(toResult(CODEX_SDK, { ...row(marked, unmarked), "files as before": "yes" }));
});

test("sdk is connected through a shell's start-up file and disconnected without a trace", async (t) => {
  const [library] = LIBRARIES;
  assert.ok(library);
  const setup = await openLibrary(t, library);
  if (setup === null) return;
  const { daemon, toolHome, command } = setup;
  writeSeeds(toolHome.home, BASHRC_SEEDS);
  const before = snapshot(listFiles("sdk", toolHome.home));
  await expectSuccess(runTollkeeper(t, daemon, toolHome, "connect", "sdk", "--yes"));
  const inShell = ["bash", "-c", '. ~/.bashrc && exec "$@"', "bash", ...command];
  const marked = await runProgram(daemon, 1, () => runBounded(t, inShell, toolHome));
  assert.deepEqual(marked, ["sdk by path"]);
  await expectSuccess(runTollkeeper(t, daemon, toolHome, "disconnect", "sdk", "--yes"));
  assert.deepEqual(snapshot(listFiles("sdk", toolHome.home)), before);
});

test("curl uses the variables that tollkeeper env prints", async (t) => {
  const { daemon } = await startDaemonWithSandbox(t);
  const toolHome = createToolHome(t);
  const lines = await expectSuccess(runTollkeeper(t, daemon, toolHome, "env", "curl"));
  const body = JSON.stringify({ model: "gpt-5.5", input: "hello" });
  const curl = `curl -sS "$OPENAI_BASE_URL/responses" -H 'content-type: application/json' -d '${body}'`;
  const identities: string[] = [];
  for (const variables of [lines, `OPENAI_BASE_URL=${daemon.url}/v1`]) {
    const output = await expectSuccess(runBounded(t, ["bash", "-c", `${variables}\n${curl}`], toolHome));
    assert.match(output, /\[sandbox\] You said: hello/);
    const record = (await daemon.ledger()).at(-1);
    identities.push(`${record?.tool} by ${record?.tool_by}`);
  }
  const [marked = "", unmarked = ""] = identities;
  assert.equal(marked, "curl by path");
  assertUnmarked([unmarked], { ...CODEX_SDK, unmarked: ["curl by library"] });
  keepResult({ kind: "libraries", library: "curl", ...row([marked], [unmarked]) });
});
