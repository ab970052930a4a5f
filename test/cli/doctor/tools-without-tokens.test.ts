import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { CheckedFinding } from "../../../src/check/check.ts";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { runBounded } from "../../helpers/process/run-bounded.ts";

/** A home directory with a project, whose configuration does not yet require tokens. */
function prepare(t: TestContext) {
  const { home, env, configFile } = prepareHome(t, { config: { listen: { port: 4711 } } });
  const project = join(home, "project");
  mkdirSync(project);
  const run = (cwd: string, ...words: string[]) =>
    runProgram([...words, "--config", configFile], { env, cwd });
  const requireTokens = () =>
    writeFileSync(configFile, JSON.stringify({ listen: { port: 4711 }, access: "token" }));
  return {
    home,
    project,
    run,
    requireTokens,
    /** Types a command that connects, as it was printed. */
    async type(command: string) {
      const line = command.replace(/\btollkeeper(?= connect)/, `${process.execPath} ${PROGRAM}`);
      const words = ["bash", "-c", `${line} --yes --config ${configFile}`];
      const { code, stderr } = await runBounded(t, words, { env, home, work: home });
      assert.equal(code, 0, stderr);
    },
    /** Returns what `doctor` says of connected tools, and its fixes. */
    async found() {
      const { stdout } = await run(home, "doctor", "--json");
      const { checks } = parseJsonOutput(stdout) as { checks: CheckedFinding[] };
      return checks.flatMap(({ id, verdict, message, fix }) =>
        id === "tools" && verdict !== "ok" ? [{ message, fix }] : [],
      );
    },
  };
}

const refused = (title: string) =>
  `${title} is connected, but it has no registered local token, so its requests are refused`;

test("doctor names tools that were connected before tokens were required; the command gives each of them one", async (t) => {
  const { home, project, run, requireTokens, type, found } = prepare(t);
  await run(home, "connect", "codex", "--yes");
  await run(project, "connect", "claude-code", "--scope", "project", "--yes");
  assert.deepEqual(await found(), []);
  requireTokens();
  const findings = await found();
  assert.deepEqual(findings, [
    {
      message: refused("Claude Code").replace("connected", "connected in ~/project"),
      fix: `cd ${project} && tollkeeper connect claude-code --scope project`,
    },
    { message: refused("Codex"), fix: "tollkeeper connect codex" },
  ]);
  for (const { fix } of findings) await type(fix ?? "");
  assert.deepEqual(await found(), []);
});

test("doctor names a connected tool whose token was revoked", async (t) => {
  const { home, run, requireTokens, found } = prepare(t);
  requireTokens();
  await run(home, "connect", "codex", "--yes");
  assert.deepEqual(await found(), []);
  await run(home, "token", "revoke", "codex");
  const { stdout } = await run(home, "connect", "--list");
  assert.match(stdout, /^Codex +codex .* yes, but see below /m);
  assert.match(stdout, /^codex: it has no registered local token, .*\n {2}-> tollkeeper connect codex$/m);
  assert.deepEqual(await found(), [{ message: refused("Codex"), fix: "tollkeeper connect codex" }]);
});

test("doctor looks for the token of a tool that keeps it outside of its files among those that are registered", async (t) => {
  const { home, run, requireTokens, found } = prepare(t);
  requireTokens();
  await run(home, "connect", "goose", "--model", "claude-sonnet-5", "--yes");
  const fix = "tollkeeper token add goose; then enter that token in goose as its API key";
  assert.deepEqual(await found(), [{ message: refused("goose"), fix }]);
  await run(home, "token", "add", "goose");
  assert.deepEqual(await found(), []);
});
