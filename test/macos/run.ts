// `npm run test:macos`: what only a Mac can show, with its own keychain, launchd, lsof and shells. For a machine of CI: it creates a
// keychain and makes it the default, and installs the service of the user who runs it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const CONFIG = join(homedir(), ".config", "tollkeeper", "config.jsonc");
const KEYCHAIN = "tollkeeper-test.keychain-db";
const KEY = "test-key-of-no-service";
const PORT = 8655;

if (process.platform !== "darwin" || process.env["CI"] !== "true") {
  console.error(
    "error: this changes the keychain and the services of a Mac; run it with CI=true, on a machine for tests",
  );
  process.exit(2);
}

/** Runs a program and returns what it prints. Both outputs are in the error of one that fails. */
function run(program: string, args: readonly string[], input = ""): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", input, timeout: 300_000 });
  assert.equal(status, 0, `${program} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

const tollkeeper = (args: string, input?: string): string =>
  run(process.execPath, [PROGRAM, ...args.split(" ")], input);

const steps: Record<string, () => void> = {
  "a keychain of our own is the default": () => {
    run("security", ["create-keychain", "-p", "", KEYCHAIN]);
    run("security", ["unlock-keychain", "-p", "", KEYCHAIN]);
    run("security", ["set-keychain-settings", KEYCHAIN]);
    run("security", ["list-keychains", "-d", "user", "-s", KEYCHAIN]);
    run("security", ["default-keychain", "-s", KEYCHAIN]);
  },
  "a key is stored in the keychain, and security(1) sees it there": () => {
    mkdirSync(dirname(CONFIG), { recursive: true });
    // Nothing listens on port 9: what is sent upstream is refused, and recorded.
    writeFileSync(CONFIG, JSON.stringify({ upstreams: { default: { baseUrl: "http://127.0.0.1:9/v1" } } }));
    tollkeeper("key set --no-test", KEY);
    assert.match(tollkeeper("key list --json"), /keychain/);
    assert.match(run("security", ["dump-keychain", KEYCHAIN]), /tollkeeper/);
  },
  "launchd runs the service": () => {
    tollkeeper("service install");
    const status = JSON.parse(tollkeeper("service status --json")) as Record<string, unknown>;
    assert.deepEqual([status["manager"], status["is_running"]], ["launchd", true]);
    assert.match(run("launchctl", ["list"]), /tollkeeper/);
  },
  "lsof and ps name the program behind a request": () => {
    const url = `http://127.0.0.1:${PORT}/v1/models`;
    run("curl", ["--silent", "--retry", "10", "--retry-connrefused", "--output", "/dev/null", url]);
    assert.match(tollkeeper("ledger export --since today"), /"curl"/);
  },
  "the shells read their completion, and the variables of env": () => {
    for (const shell of ["bash", "zsh"]) {
      run(shell, ["-n"], tollkeeper(`completion ${shell}`));
      const variables = tollkeeper(`env my-script --shell sh`);
      assert.match(
        run(shell, ["-s"], `${variables}\nenv\n`),
        new RegExp(`_BASE_URL=http://127\\.0\\.0\\.1:${PORT}/`),
      );
    }
  },
  "what was installed is removed": () => {
    tollkeeper("service uninstall");
    tollkeeper("key remove default --yes");
    run("security", ["delete-keychain", KEYCHAIN]);
  },
};

for (const [name, step] of Object.entries(steps)) {
  step();
  console.log(`ok  ${name}`);
}
