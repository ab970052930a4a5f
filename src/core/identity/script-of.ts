import { isInterpreter, nameOfProgram } from "./process-kinds.ts";

/** Options of Node, Bun, Deno and Python whose value is an argument of its own. */
const WITH_VALUE = new Set([
  "-r",
  "--require",
  "--import",
  "--loader",
  "--experimental-loader",
  "-C",
  "--conditions",
  "--preload",
  "--config",
  "-W",
  "-X",
]);

/** After these comes program text, and no script. */
const PROGRAM_TEXT = new Set(["-e", "--eval", "-p", "--print", "-pe", "-c", "-"]);

/** `bun run x.ts` and `deno run x.ts` run a script just as `bun x.ts` does. */
const RUN = "run";

/**
 * What an interpreter runs, by the arguments of its process: the script's path, or the name of Python's module. A process
 * that has put a title in the place of its arguments, as Pi does, says by that what it is: the title's first word. Null
 * where there is none. Whatever else stands in the arguments may be a prompt or a credential: it goes nowhere.
 */
export function scriptOf(argv: readonly string[]): string | null {
  const [title = "", ...args] = argv;
  if (!isInterpreter(title)) return title.split(" ", 1)[0] || null;
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] ?? "";
    if (PROGRAM_TEXT.has(arg)) return null;
    if (arg === "-m" && nameOfProgram(title).startsWith("python")) return args[i + 1] ?? null;
    if (WITH_VALUE.has(arg)) i += 1;
    else if (!arg.startsWith("-") && arg !== RUN) return arg || null;
  }
  return null;
}
