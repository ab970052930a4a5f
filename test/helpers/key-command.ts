import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { startSession } from "./keyring.ts";
import type { Session } from "./keyring.ts";
import { PROGRAM } from "./program.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

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
  const argv = (args: string[]) => [PROGRAM, "key", ...args, "--config", file];
  return {
    session,
    run: (args, input = "") => finish(spawn(process.execPath, argv(args), { cwd: root, env }), input),
    async runOnTerminal(args, prompt, typed) {
      const words = [process.execPath, ...argv(args)].map((word) => `'${word}'`).join(" ");
      const terminal = spawn("script", ["-qec", words, "/dev/null"], {
        cwd: root,
        env: { ...env, SHELL: "/bin/sh" },
      });
      let screen = "";
      let isAsked = false;
      terminal.stdout.on("data", (shown: Buffer) => {
        screen += shown.toString();
        if (!isAsked && screen.includes(prompt)) terminal.stdin.write(typed);
        isAsked ||= screen.includes(prompt);
      });
      const [code] = (await once(terminal, "close")) as [number | null];
      return { code, out: screen, err: "" };
    },
  };
}

async function finish(program: ReturnType<typeof spawn>, input: string): Promise<Result> {
  const result: Result = { code: null, out: "", err: "" };
  program.stdout?.setEncoding("utf8").on("data", (text: string) => (result.out += text));
  program.stderr?.setEncoding("utf8").on("data", (text: string) => (result.err += text));
  // A program that refuses its arguments does not read.
  program.stdin?.on("error", () => {}).end(input);
  [result.code] = (await once(program, "close")) as [number | null];
  return result;
}

/** A key that no other text can hold by chance. */
export function sentinelKey(): string {
  return `sk-sentinel-${randomBytes(24).toString("hex")}`;
}
