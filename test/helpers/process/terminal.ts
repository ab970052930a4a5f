import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

/** Why there is no terminal here, for `test(..., { skip })`; false when there is one. */
export const noTerminal: string | false =
  process.platform !== "linux" || spawnSync("script", ["--version"]).status !== 0
    ? "needs script of util-linux (apt-get install bsdutils)"
    : false;

/** How a program on a terminal ended, and all that was on the screen: both its outputs, and what was typed and shown. */
export interface Screen {
  code: number | null;
  text: string;
}

/** What is typed, each once the screen shows its prompt behind the one before. */
export type Typing = readonly [prompt: string, typed: string][];

/** Runs a program on a real terminal (`script`, util-linux). @param argv without apostrophes */
export async function runOnTerminal(
  argv: readonly string[],
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd?: string },
  typing: Typing,
): Promise<Screen> {
  const words = argv.map((word) => `'${word}'`).join(" ");
  // Ctrl-C is for the program alone, and not for a shell in front of it.
  const terminal = spawn("script", ["-qec", `exec ${words}`, "/dev/null"], {
    cwd,
    env: { ...env, SHELL: "/bin/sh" },
  });
  const waiting = [...typing];
  let text = "";
  let seen = 0;
  terminal.stdout.setEncoding("utf8").on("data", (shown: string) => {
    text += shown;
    const [next] = waiting;
    const at = next === undefined ? -1 : text.indexOf(next[0], seen);
    if (next === undefined || at === -1) return;
    seen = at + next[0].length;
    waiting.shift();
    terminal.stdin.write(next[1]);
  });
  const [code] = (await once(terminal, "close")) as [number | null];
  return { code, text };
}
