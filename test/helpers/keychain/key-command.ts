import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { startSession } from "./keychain-session.ts";
import type { Session } from "./keychain-session.ts";
import { PROGRAM, runProgram } from "../daemon/program.ts";
import { runOnTerminal } from "../process/terminal.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** How a program ended, and all that it wrote. On a terminal both streams are one: the screen, in `out`. */
export interface Result {
  code: number | null;
  out: string;
  err: string;
}

/** `tollkeeper key ...` in a session and with a configuration of its own. */
export interface KeyCommand {
  session: Session;
  /** Runs it with `input` on its standard input, which is no terminal. */
  run(args: string[], input?: string): Promise<Result>;
  /** Runs it on a real terminal; `typed` is typed once the screen ends with `prompt`. */
  runOnTerminal(args: string[], prompt: string, typed: string): Promise<Result>;
}

/** A keychain that is open, and the configuration that the commands are to find. */
export async function prepareKeyCommand(t: TestContext, config: object): Promise<KeyCommand> {
  const session = await startSession(t);
  await session.startUnlocked();
  const file = join(session.directory, "config.jsonc");
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const env = { PATH: process.env["PATH"], ...session.env, DEBUG: "*" };
  const argv = (args: string[]) => ["key", ...args, "--config", file];
  return {
    session,
    async run(args, input = "") {
      const { code, stdout: out, stderr: err } = await runProgram(argv(args), { env, cwd: root, input });
      return { code, out, err };
    },
    async runOnTerminal(args, prompt, typed) {
      const { code, text } = await runOnTerminal(
        [process.execPath, PROGRAM, ...argv(args)],
        { env, cwd: root },
        [[prompt, typed]],
      );
      return { code, out: text, err: "" };
    },
  };
}

/** A key that no other text can hold by chance. */
export function sentinelKey(): string {
  return `sk-sentinel-${randomBytes(24).toString("hex")}`;
}
