import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { CommandResult } from "../../helpers/daemon/daemon.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";
import { startUnlockedSession, type KeychainSession } from "../../helpers/keychain/keychain-session.ts";
import { fakePrograms } from "../../helpers/process/fake-programs.ts";
import { runOnTerminal } from "../../helpers/process/terminal.ts";
import { sendJson, startUpstream, type ScriptedUpstream } from "../../helpers/upstream/scripted-upstream.ts";

/** An account with a keychain, without a service manager, in which Claude Code and Codex have been used. */
export interface SetupHome {
  home: string;
  /** The default configuration file, which does not exist. */
  configFile: string;
  session: KeychainSession;
  env: NodeJS.ProcessEnv;
  /** The upstream's key, which no command may print: each run is searched for it. */
  key: string;
  /** Lists two models for `key`, and refuses every other one. */
  upstream: ScriptedUpstream;
  /** Runs a command with `input` on its standard input, which is not a terminal. */
  run(args: readonly string[], input?: string): Promise<CommandResult>;
  /** Runs a command on a real terminal and types each text once the terminal shows the prompt before it. */
  onTerminal(
    args: readonly string[],
    dialogue: [prompt: string, typed: string][],
  ): Promise<{ code: number | null; text: string }>;
  /** Returns the keys in the keychain, as `NAME@ORIGIN`. */
  storedKeys(): Promise<string[]>;
  read(path: string): string;
  exists(path: string): boolean;
}

/** Prepares the account; `env` is added to the environment of every command. */
export async function prepareSetup(t: TestContext, env: Record<string, string> = {}): Promise<SetupHome> {
  const session = await startUnlockedSession(t);
  const home = session.directory;
  const key = sentinelKey();
  const upstream = await startUpstream(t, ({ headers }, res) => {
    const sent = headers.authorization?.replace("Bearer ", "") ?? headers["x-api-key"];
    if (sent === key) return sendJson(res, { data: [{ id: "a" }, { id: "b" }] });
    return sendJson(res, { error: { message: "no such key" } }, 401);
  });
  for (const directory of [".claude/projects", ".codex/sessions"])
    mkdirSync(join(home, directory), { recursive: true });
  const { directory } = fakePrograms(t, { systemctl: [{ match: "*", code: 127 }] });
  const environment = { PATH: `${directory}:${process.env["PATH"]}`, ...session.env, ...env };
  const search = (text: string) => assert.ok(!text.includes(key), "the key is in the output");
  const run: SetupHome["run"] = async (args, input = "") => {
    const result = await runProgram(args, { env: environment, cwd: home, input });
    search(result.stdout + result.stderr);
    return result;
  };
  return {
    home,
    configFile: join(home, ".config", "tollkeeper", "config.jsonc"),
    session,
    env: environment,
    key,
    upstream,
    run,
    async onTerminal(args, dialogue) {
      const argv = [process.execPath, PROGRAM, ...args];
      const screen = await runOnTerminal(argv, { env: environment, cwd: home }, dialogue);
      search(screen.text);
      return { code: screen.code, text: screen.text.replaceAll("\r\n", "\n") };
    },
    async storedKeys() {
      const { stdout } = await run(["key", "list", "--json"]);
      const keys = parseJsonOutput(stdout) as Record<"name" | "origin" | "state" | "source", string>[];
      return keys
        .filter(({ state, source }) => state === "stored" && source === "keychain")
        .map(({ name, origin }) => `${name}@${origin}`);
    },
    read: (path) => readFileSync(join(home, path), "utf8"),
    exists: (path) => existsSync(join(home, path)),
  };
}

/** Writes the configuration of an account. */
export function writeConfiguration({ configFile }: SetupHome, text: string): void {
  mkdirSync(dirname(configFile), { recursive: true, mode: 0o700 });
  writeFileSync(configFile, text, { mode: 0o600 });
}

/** Returns the arguments of a `setup` that reads the key from standard input and asks nothing. */
export function setupWith(baseUrl: string, ...options: string[]): string[] {
  return ["setup", "--base-url", baseUrl, "--key-stdin", ...options, "--yes"];
}
