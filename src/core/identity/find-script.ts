import { isInterpreter, toProgramName } from "./process-kinds.ts";
import { isRunner } from "./name-script.ts";
import type { Script } from "./signatures.ts";

const PYTHON = /^(?:python|pypy)/;

/** Options whose value is a separate argument. The same letter may stand alone elsewhere: Python's `-I` and Deno's `-W` do. */
const WITH_VALUE: readonly (readonly [interpreter: RegExp, options: ReadonlySet<string>])[] = (
  [
    [
      /^(?:node|electron)/,
      "-r --require --import --loader --experimental-loader -C --conditions --env-file --title --inspect-port --watch-path --tsconfig --project -P --cwd",
    ],
    [/^bun/, "-r --require --preload --import --conditions --config --env-file --cwd"],
    [/^deno/, "-c --config --import-map --cert --location --seed --ext --preload --import --require"],
    [PYTHON, "-W -X"],
    [/^ruby/, "-r -I -C -X"],
    [/^perl/, "-I"],
    [/^php/, "-c -d -S -t"],
    [/^lua/, "-l"],
    [/^java/, "-cp -classpath --class-path -p --module-path"],
    [/^dotnet/, "--project"],
    [/^ld-/, "--library-path --argv0 --preload"],
  ] as const
).map(([interpreter, names]) => [interpreter, new Set(names.split(" "))]);

/** `-m NAME`, `-mNAME` or with other options before it, as in `-Im NAME`. */
const RUN_MODULE = /^-[bBdEiIOPqRsSuvx]*m(.*)$/;

/** After these the program comes as text, or on standard input: there is no script, and what follows may be private. */
const PROGRAM_TEXT: readonly (readonly [interpreter: RegExp, option: RegExp])[] = [
  [/./, /^-$/],
  [/^(?:node|bun|electron)/, /^(?:-e|-p|-pe|-c|--eval|--print)$/],
  [/^deno/, /^eval$/],
  [PYTHON, /^-[a-zA-Z]*c/],
  [/^(?:ruby|perl|lua)/, /^-[a-zA-Z]*[eE]/],
  [/^php/, /^(?:-[rBRE]|--run|--process-.*)/],
];

/** `bun run x.ts`, `deno run x.ts` and `dotnet exec x.dll` run a file just as they do without the word. */
const SUBCOMMANDS = new Set(["run", "exec", "x"]);

/**
 * Returns what an interpreter runs, from the arguments of its process: a script's path or the name of a Python module;
 * null when there is none. Returns the first word of a title with which the process has replaced its arguments, as Pi does.
 * Nothing else of the arguments may be kept: they can hold prompts and credentials.
 */
export function findScript(argv: readonly string[]): Script | null {
  const [title = "", ...args] = argv;
  if (!isInterpreter(title)) return toScript("title", title.split(" ", 1)[0]);
  const interpreter = toProgramName(title);
  let runner: Script | null = null;
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] ?? "";
    const module = PYTHON.test(interpreter) ? RUN_MODULE.exec(arg) : null;
    if (module !== null) return toScript("module", module[1] || args[i + 1]);
    if (isProgramText(interpreter, arg)) return null;
    if (hasValue(interpreter, arg)) i += 1;
    else if (!arg.startsWith("-") && !SUBCOMMANDS.has(arg)) {
      const script = toScript("file", arg);
      if (script === null || !isRunner(script)) return script;
      runner = script;
    }
  }
  return runner;
}

function hasValue(interpreter: string, arg: string): boolean {
  return WITH_VALUE.some(([names, options]) => names.test(interpreter) && options.has(arg));
}

function isProgramText(interpreter: string, arg: string): boolean {
  return PROGRAM_TEXT.some(([names, option]) => names.test(interpreter) && option.test(arg));
}

function toScript(kind: Script["kind"], text: string | undefined): Script | null {
  return text === undefined || text === "" ? null : { kind, text };
}
