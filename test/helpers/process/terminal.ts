import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

/** The reason why no terminal can be created here, for `test(..., { skip })`; false when one can. */
export const noTerminal: string | false =
  process.platform !== "linux" || spawnSync("script", ["--version"]).status !== 0
    ? "needs script of util-linux (apt-get install bsdutils)"
    : false;

/** A program's exit code, and everything that was on its terminal: both output streams and echoed input. */
interface Screen {
  code: number | null;
  text: string;
}

/** Inputs in order. Each is typed once the terminal shows its prompt after the previous one. */
type Typing = readonly [prompt: string, typed: string][];

/** A program shows something long before, even on a machine with twenty times its work. */
const SILENCE_LIMIT_MS = 120_000;

/**
 * Runs a program on a real terminal (`script`, util-linux). Rejects with the prompt that it waits for and the screen when the program
 * neither ends nor shows anything for `silenceLimitMs`. `argv` must not contain apostrophes.
 */
export async function runOnTerminal(
  argv: readonly string[],
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd?: string },
  typing: Typing,
  silenceLimitMs = SILENCE_LIMIT_MS,
): Promise<Screen> {
  const words = argv.map((word) => `'${word}'`).join(" ");
  // `exec`, so that Ctrl-C reaches the program and not a shell that waits for it.
  const terminal = spawn("script", ["-qec", `exec ${words}`, "/dev/null"], {
    cwd,
    env: { ...env, SHELL: "/bin/sh" },
  });
  const waiting = [...typing];
  let text = "";
  let seen = 0;
  let isStuck = false;
  const silence = setTimeout(() => {
    isStuck = true;
    // The program gets a hang-up with its terminal.
    terminal.kill("SIGKILL");
  }, silenceLimitMs);
  terminal.stdout.setEncoding("utf8").on("data", (shown: string) => {
    silence.refresh();
    text += shown;
    const [next] = waiting;
    const at = next === undefined ? -1 : text.indexOf(next[0], seen);
    if (next === undefined || at === -1) return;
    seen = at + next[0].length;
    waiting.shift();
    terminal.stdin.write(next[1]);
  });
  const [code] = (await once(terminal, "close")) as [number | null];
  clearTimeout(silence);
  if (isStuck) {
    const awaited = waiting[0] === undefined ? "ended" : `asked ${JSON.stringify(waiting[0][0])}`;
    throw new Error(
      `${argv.join(" ")} has neither ${awaited} nor shown anything for ${silenceLimitMs / 1000} s; its terminal:\n${text}`,
    );
  }
  return { code, text };
}
