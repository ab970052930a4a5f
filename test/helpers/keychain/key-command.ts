import { usualConfigFile } from "../config/config-file.ts";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { startUnlockedSession } from "./keychain-session.ts";
import type { KeychainSession } from "./keychain-session.ts";
import { PROGRAM } from "../daemon/program.ts";
import { runProgram } from "../daemon/run-program.ts";
import { runOnTerminal } from "../process/terminal.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** A program's exit code and output. On a terminal, `out` has both streams. */
export interface KeyCommandResult {
  code: number | null;
  out: string;
  err: string;
}

/** Runs `tollkeeper key ...` in a keychain session and with a configuration of its own. */
interface KeyCommand {
  session: KeychainSession;
  /** Runs it with `input` on its standard input, which is not a terminal. */
  run(args: string[], input?: string): Promise<KeyCommandResult>;
  /** Runs it on a real terminal and types each text once the terminal shows the prompt before it. */
  runOnTerminal(args: string[], dialogue: [prompt: string, typed: string][]): Promise<KeyCommandResult>;
}

/** Starts an unlocked keychain and writes the configuration. */
export async function prepareKeyCommand(t: TestContext, config: object): Promise<KeyCommand> {
  const session = await startUnlockedSession(t);
  const file = usualConfigFile(session.directory);
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const env = { PATH: process.env["PATH"], ...session.env, DEBUG: "*" };
  const argv = (args: string[]) => ["key", ...args, "--config", file];
  return {
    session,
    async run(args, input = "") {
      const { code, stdout: out, stderr: err } = await runProgram(argv(args), { env, cwd: ROOT, input });
      return { code, out, err };
    },
    async runOnTerminal(args, dialogue) {
      const { code, text } = await runOnTerminal(
        [process.execPath, PROGRAM, ...argv(args)],
        { env, cwd: ROOT },
        dialogue,
      );
      return { code, out: text, err: "" };
    },
  };
}

/** Returns a key that cannot occur in any text by chance. */
export function sentinelKey(): string {
  return `sk-sentinel-${randomBytes(24).toString("hex")}`;
}
