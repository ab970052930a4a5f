import assert from "node:assert/strict";
import { copyFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { assertLedgerMatchesBilling, startDaemonWithSandbox } from "../helpers/ledger/sandbox-billing.ts";
import { runBounded, type ToolHome } from "../helpers/process/run-bounded.ts";
import type { CommandResult, Daemon } from "../helpers/daemon/daemon.ts";
import { createToolHome, skipUnavailable } from "../helpers/tools/real-tool.ts";
import { findNode22, installPackages } from "../helpers/tools/tool-packages.ts";
import { succeed, tollkeeper } from "./bench.ts";
import { filesOf, seed, snapshot, takeMarkOff } from "./home-files.ts";
import { CODEX_SDK, LIBRARIES, type Library } from "./libraries.ts";
import { keepResult, type Result } from "./results.ts";
import { BASHRC_SEEDS, CODEX_SEEDS } from "./seeds.ts";

const PROGRAMS = fileURLToPath(new URL("programs/", import.meta.url));
const MARK = "my-program";

/** A program on a library, ready to be run, and a daemon. */
interface Bench extends Awaited<ReturnType<typeof startDaemonWithSandbox>> {
  t: TestContext;
  room: ToolHome;
  library: Library;
  /** What runs the program. */
  command: string[];
}

/** null, with the test skipped, where the library cannot be had. */
async function openLibrary(t: TestContext, library: Library): Promise<Bench | null> {
  const room = createToolHome(t);
  try {
    symlinkSync(await installPackages(library), join(room.work, "node_modules"));
    copyFileSync(join(PROGRAMS, library.program), join(room.work, library.program));
    const command = [await findNode22(), library.program];
    return { t, room, library, command, ...(await startDaemonWithSandbox(t)) };
  } catch (error) {
    keepResult(resultOf(library, { installed: "no" }));
    skipUnavailable(t, library, error);
    return null;
  }
}

function resultOf({ package: name, version }: Library, result: Result): Result {
  return { kind: "libraries", library: name, version, ...result };
}

/** Runs it; resolves to who its requests came from, in the ledger's order. */
async function ask(daemon: Daemon, count: number, run: () => Promise<CommandResult>): Promise<string[]> {
  const before = (await daemon.ledger()).length;
  const { code, stdout, stderr } = await run();
  assert.equal(stdout, "[sandbox] You said: hello\n".repeat(count), stderr);
  assert.equal(code, 0, stderr);
  return (await daemon.ledger()).slice(before).map(({ tool, tool_by }) => `${tool} by ${tool_by}`);
}

/** Variables as somebody sets them who does not care for the tool's name. */
function unmarkedVariables({ url }: Daemon): Record<string, string> {
  const keys = { ANTHROPIC_API_KEY: "placeholder", OPENAI_API_KEY: "placeholder" };
  return { ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: `${url}/v1`, ...keys };
}

/** A library says less than the process that has started it all, where that is a tool itself. */
function assertUnmarked(told: readonly string[], { unmarked }: Library): void {
  const isSaidByProcess = (by: string, i: number) =>
    by.endsWith(" by process") && unmarked[i]?.endsWith(" by library");
  assert.deepEqual(
    told.map((by, i) => (isSaidByProcess(by, i) ? unmarked[i] : by)),
    unmarked,
  );
}

for (const library of LIBRARIES) {
  test(`${library.package}@${library.version} is led by variables that tollkeeper run sets`, async (t) => {
    const bench = await openLibrary(t, library);
    if (bench === null) return;
    const { daemon, sandbox, room, command } = bench;
    const count = library.unmarked.length;
    const marked = await ask(daemon, count, () =>
      tollkeeper(t, daemon, room, "run", "--tool", MARK, "--", ...command),
    );
    assert.deepEqual(marked, Array<string>(count).fill(`${MARK} by path`));
    const env = { ...room.env, ...unmarkedVariables(daemon) };
    const unmarked = await ask(daemon, count, () => runBounded(t, command, { ...room, env }));
    assertUnmarked(unmarked, library);
    assertLedgerMatchesBilling(await daemon.ledger(), sandbox);
    keepResult(resultOf(library, row(marked, unmarked)));
  });
}

function row(marked: readonly string[], unmarked: readonly string[]): Result {
  return {
    installed: "yes",
    answered: "yes",
    "with mark": oneOfEach(marked),
    "without it": oneOfEach(unmarked),
  };
}

function oneOfEach(told: readonly string[]): string {
  return [...new Set(told)].join(", ");
}

test("@openai/codex-sdk is led by Codex's settings", async (t) => {
  const bench = await openLibrary(t, CODEX_SDK);
  if (bench === null) return;
  const { daemon, room, command } = bench;
  seed(room.home, CODEX_SEEDS);
  const before = snapshot(filesOf("codex", room.home));
  await succeed(tollkeeper(t, daemon, room, "connect", "codex", "--yes"));
  const marked = await ask(daemon, 1, () => runBounded(t, command, room));
  assert.deepEqual(marked, ["codex by path"]);
  await succeed(tollkeeper(t, daemon, room, "disconnect", "codex", "--yes"));
  assert.deepEqual(snapshot(filesOf("codex", room.home)), before);
  await succeed(tollkeeper(t, daemon, room, "connect", "codex", "--yes"));
  takeMarkOff("codex", room.home);
  const unmarked = await ask(daemon, 1, () => runBounded(t, command, room));
  assertUnmarked(unmarked, CODEX_SDK);
  keepResult(resultOf(CODEX_SDK, { ...row(marked, unmarked), "files as before": "yes" }));
});

test("sdk is connected by a shell's start-up file, and disconnected without a trace", async (t) => {
  const [library] = LIBRARIES;
  assert.ok(library);
  const bench = await openLibrary(t, library);
  if (bench === null) return;
  const { daemon, room, command } = bench;
  seed(room.home, BASHRC_SEEDS);
  const before = snapshot(filesOf("sdk", room.home));
  await succeed(tollkeeper(t, daemon, room, "connect", "sdk", "--yes"));
  const inShell = ["bash", "-c", '. ~/.bashrc && exec "$@"', "bash", ...command];
  const marked = await ask(daemon, 1, () => runBounded(t, inShell, room));
  assert.deepEqual(marked, ["sdk by path"]);
  await succeed(tollkeeper(t, daemon, room, "disconnect", "sdk", "--yes"));
  assert.deepEqual(snapshot(filesOf("sdk", room.home)), before);
});

test("curl is led by the lines that tollkeeper env prints", async (t) => {
  const { daemon } = await startDaemonWithSandbox(t);
  const room = createToolHome(t);
  const lines = await succeed(tollkeeper(t, daemon, room, "env", "curl"));
  const body = JSON.stringify({ model: "gpt-5.5", input: "hello" });
  const curl = `curl -sS "$OPENAI_BASE_URL/responses" -H 'content-type: application/json' -d '${body}'`;
  const told: string[] = [];
  for (const setUp of [lines, `OPENAI_BASE_URL=${daemon.url}/v1`]) {
    const answer = await succeed(runBounded(t, ["bash", "-c", `${setUp}\n${curl}`], room));
    assert.match(answer, /\[sandbox\] You said: hello/);
    const record = (await daemon.ledger()).at(-1);
    told.push(`${record?.tool} by ${record?.tool_by}`);
  }
  const [marked = "", unmarked = ""] = told;
  assert.equal(marked, "curl by path");
  assertUnmarked([unmarked], { ...CODEX_SDK, unmarked: ["curl by library"] });
  keepResult({ kind: "libraries", library: "curl", ...row([marked], [unmarked]) });
});
