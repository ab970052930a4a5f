// A real tool in namespaces with no network but loopback, as in a container; tollkeeper and its key are outside.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Daemon } from "../helpers/daemon/daemon.ts";
import { PROGRAM } from "../helpers/daemon/program.ts";
import { assertLedgerMatchesBilling, startDaemonWithSandbox } from "../helpers/ledger/sandbox-billing.ts";
import { runBounded } from "../helpers/process/run-bounded.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { inContainer, noNamespaces } from "../helpers/remote/container.ts";
import { CLAUDE_CODE, CODEX, installTool, type InstalledTool } from "../helpers/tools/real-tool.ts";

async function startHost(t: TestContext) {
  const directory = join(scratchDirectory(t), "sockets");
  const socket = join(directory, "tollkeeper.sock");
  const { daemon, sandbox } = await startDaemonWithSandbox(t, { config: { listen: { socket } } });
  return { daemon, sandbox, directory };
}

function keyFileOf(daemon: Daemon): string {
  const config = JSON.parse(readFileSync(daemon.configFile, "utf8")) as {
    upstreams: { default: { keySource: { file: string } } };
  };
  return config.upstreams.default.keySource.file;
}

/** Runs a script in a container that sees the socket's directory, and neither the daemon's home nor its key. */
function runInside(
  t: TestContext,
  host: { daemon: Daemon; directory: string },
  tool: InstalledTool,
  script: string,
) {
  const target = join(tool.home, "tollkeeper");
  mkdirSync(target);
  const keyFile = keyFileOf(host.daemon);
  const hidden = [host.daemon.home, dirname(keyFile)];
  const steps = [
    `test ! -e ${keyFile}`,
    `! ${process.execPath} -e 'fetch("${host.daemon.url}").catch(() => process.exit(1))'`,
    `${process.execPath} ${PROGRAM} bridge --socket ${target}/tollkeeper.sock > bridge.out &`,
    "until grep -q 'bridge listens' bridge.out; do sleep 0.1; done",
    script,
  ];
  return runBounded(
    t,
    inContainer({ mount: { source: host.directory, target }, hidden }, steps.join("\n")),
    tool,
  );
}

test(
  "Claude Code in a container works through the bridge, and is recorded with its own name",
  { skip: noNamespaces },
  async (t) => {
    const claude = await installTool(t, CLAUDE_CODE);
    if (claude === null) return;
    const host = await startHost(t);
    const env = {
      ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/claude-code",
      ANTHROPIC_AUTH_TOKEN: "tk-claude-code",
    };
    claude.configure(".claude/settings.json", JSON.stringify({ env }));
    const result = await runInside(t, host, claude, "claude -p hello");
    assert.deepEqual([result.code, result.stdout], [0, "[sandbox] You said: hello\n"], result.stderr);
    const records = await host.daemon.ledger();
    assert.deepEqual(
      records.map(({ tool, tool_by, outcome, process: peer }) => [tool, tool_by, outcome, peer]),
      [["claude-code", "path", "completed", null]],
    );
    assertLedgerMatchesBilling(records, host.sandbox);
  },
);

test(
  "Codex in a container works through the bridge, and is recorded with its own name",
  { skip: noNamespaces },
  async (t) => {
    const codex = await installTool(t, CODEX);
    if (codex === null) return;
    const host = await startHost(t);
    const provider =
      'name = "tollkeeper"\nbase_url = "http://127.0.0.1:8655/t/codex/v1"\nwire_api = "responses"\nsupports_websockets = false\n';
    codex.configure(
      ".codex/config.toml",
      `model = "gpt-5.5"\nmodel_provider = "tollkeeper"\n[model_providers.tollkeeper]\n${provider}`,
    );
    const result = await runInside(t, host, codex, "codex exec --skip-git-repo-check hello");
    assert.equal(result.code, 0, result.stderr);
    assert.match(result.stdout, /\[sandbox\] You said: hello/);
    const records = await host.daemon.ledger();
    assert.ok(
      records.length > 0 && records.every(({ tool, tool_by }) => tool === "codex" && tool_by === "path"),
    );
    assertLedgerMatchesBilling(records, host.sandbox);
  },
);
