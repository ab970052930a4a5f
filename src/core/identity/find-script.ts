import { isInterpreter, toProgramName } from "./process-kinds.ts";

/** Options of Node, Bun, Deno and Python whose value is a separate argument. */
const WITH_VALUE = new Set(
  "-r --require --import --loader --experimental-loader -C --conditions --preload --config -W -X".split(" "),
);

/** Options and arguments after which the program comes as text or on standard input: there is no script. */
const PROGRAM_TEXT = new Set(["-e", "--eval", "-p", "--print", "-pe", "-c", "-"]);

/**
 * Returns what an interpreter runs, from the arguments of its process: a script's path or the name of a Python module;
 * null when there is none. Returns the first word of a title by which the process has replaced its arguments, as Pi does.
 * Nothing else of the arguments may be kept: they can hold prompts and credentials.
 */
export function findScript(argv: readonly string[]): string | null {
  const [title = "", ...args] = argv;
  if (!isInterpreter(title)) return title.split(" ", 1)[0] || null;
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] ?? "";
    if (PROGRAM_TEXT.has(arg)) return null;
    if (arg === "-m" && toProgramName(title).startsWith("python")) return args[i + 1] ?? null;
    if (WITH_VALUE.has(arg)) i += 1;
    // `bun run x.ts` and `deno run x.ts` run a script just as `bun x.ts` does.
    else if (!arg.startsWith("-") && arg !== "run") return arg || null;
  }
  return null;
}
