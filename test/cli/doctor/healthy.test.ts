import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { explainUnmaintainedNode } from "../../../src/core/node-releases.ts";
import { programVersion } from "../../../src/adapters/program.ts";
import { setUpMachine } from "../../helpers/daemon/machine.ts";
import { createFakeSystemd } from "../../helpers/systemd/fake-systemd.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { noKeyring, startUnlockedSession } from "../../helpers/keychain/keychain-session.ts";

const CLAUDE_SETTINGS = `{
  "env": { "ANTHROPIC_BASE_URL": "http://127.0.0.1:%PORT%/t/claude-code", "ANTHROPIC_AUTH_TOKEN": "placeholder" }
}
`;

const CODEX_CONFIG = `model_provider = "tollkeeper"
[model_providers.tollkeeper]
base_url = "http://127.0.0.1:%PORT%/t/codex/v1"
[model_providers.ollama]
base_url = "http://localhost:11434/v1"
`;

const ZSHRC = `export EDITOR=vi PATH="$HOME/bin:$PATH"
export OPENAI_API_KEY=$(pass show openai)
export GITHUB_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz
`;

const UNMAINTAINED = explainUnmaintainedNode(process.versions.node, Date.now());
const VERSION =
  UNMAINTAINED === null
    ? "ok       version          tollkeeper VERSION, Node NODE"
    : `warning  version          ${UNMAINTAINED}\n         -> install that Node, then: tollkeeper service install`;

const ALL_OK = `${VERSION}
ok       Node's settings  none of them exposes a key
ok       configuration    ~/config/tollkeeper/config.jsonc is valid: 1 upstream, port PORT
ok       keychain         the keychain responds and is unlocked
ok       keys             key "default" for upstream default is stored (keychain)
ok       upstreams        default: UPSTREAM/v1 accepts key "default": 2 models, connected in N ms, response in N ms
ok       daemon           running, pid PID, started AGO
ok       port             127.0.0.1:PORT and [::1]:PORT, held by the daemon
ok       service          installed, starts at boot; active (running) since Sat 2026-11-21 10:00:00 UTC
ok       other users      no other user holds port PORT or is connected to it
ok       file access      no other user can change the program or its files
ok       ledger           ~/state/tollkeeper/ledger: 0 days, 0 bytes; no problem in the lines of the last 7 days; SIZE free
ok       export           nothing is exported
ok       clock            TIME; it seems right
ok       leftover keys    none found in the environment and 3 files of shells and tools
ok       base URLs        2 base URLs point at tollkeeper
ok       proxies          no proxy between tools and tollkeeper
ok       tools            connected: Claude Code, Codex; nothing sends requests elsewhere
ok       usage            every whole stream of Chat Completions of the last 7 days reported its tokens

${UNMAINTAINED === null ? "no problems found" : "1 warning"}
`;

test(
  "doctor on a healthy machine prints one ok line for each check, exits with 0 and changes nothing",
  { skip: noKeyring },
  async (t) => {
    const session = await startUnlockedSession(t);
    const port = await freePort();
    const machine = await setUpMachine(t, {
      port,
      config: (baseUrl) => ({ upstreams: { default: { baseUrl } } }),
      session: session.busEnv,
      programs: createFakeSystemd(t, { port }),
      files: {
        ".claude/settings.json": CLAUDE_SETTINGS,
        ".codex/config.toml": CODEX_CONFIG,
        ".zshrc": ZSHRC,
      },
      names: { VERSION: programVersion(), NODE: process.versions.node },
    });
    await session.storeKey(machine.key, machine.upstream);
    const before = stateOf(machine.home);
    const { code, stdout, stderr } = await machine.doctor();
    const named = machine
      .named(stdout)
      .replaceAll(/\b\d+ ms/g, "N ms")
      .replace(/started (?:just now|\d+ (?:s|min) ago)/, "started AGO")
      .replace(/[\d.]+ [MG]B free/, "SIZE free")
      .replace(/(?<=clock +)[\d-]+ [\d:]+/, "TIME");
    assert.equal(named, ALL_OK.replaceAll(process.versions.node, "NODE"));
    assert.deepEqual([code, stderr], [0, ""]);
    assert.deepEqual(stateOf(machine.home), before);
  },
);

/** Lists every file below a directory with its mode, size and modification time. */
function stateOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => {
      const { size, mode, mtimeMs } = statSync(join(directory, name));
      return `${name} ${mode.toString(8)} ${size} ${mtimeMs}`;
    })
    .toSorted();
}
