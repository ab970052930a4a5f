import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";

/** A program that shows a text screen by screen. */
interface Pager {
  /** For a shell, as `PAGER` has it. */
  command: string;
  /** The version of `less`; null for another program. */
  less: number | null;
}

/** What a person scrolls through with `less`. */
interface Scrolled {
  /** Lines at the top that stay, where `less` can hold them. */
  headLines: number;
  /** How many columns one press of an arrow goes to the side. */
  step: number;
}

/** `less` holds lines at the top since then (`--header`, NEWS of less 608). */
const HOLDS_LINES = 608;

/** `less` with options, and nothing else that a shell would act on. */
const SIMPLE_LESS = /^[\w./-]*less(?: +-[\w.=#,+-]+)*$/;

/**
 * Finds the program that shows long texts, as git does: `PAGER`, else `less`. null where none is wanted (`PAGER` is empty or `cat`), where
 * the terminal cannot move its cursor, and without `less`.
 */
export function findPager(env: NodeJS.ProcessEnv): Pager | null {
  const command = (env["PAGER"] ?? "less").trim();
  const terminal = env["TERM"] ?? "";
  if (command === "" || command === "cat" || terminal === "" || terminal === "dumb") return null;
  if (!SIMPLE_LESS.test(command)) return { command, less: null };
  const [program = ""] = command.split(" ");
  const { stdout, error } = spawnSync(program, ["--version"], { encoding: "utf8" });
  if (error !== undefined) return null;
  // That of BusyBox has no version, and too few options.
  const version = /^less (\d+)/.exec(stdout)?.[1];
  return { command, less: basename(program) === "less" && version !== undefined ? Number(version) : null };
}

/** Shows a text with a pager, and waits until the person has seen enough. False if the pager cannot be run. */
export async function scroll(text: string, pager: Pager, scrolled: Scrolled | null): Promise<boolean> {
  const { command, less } = pager;
  const options = less === null || scrolled === null ? [] : lessOptions(less, scrolled);
  const child = spawn("sh", ["-c", `${command} "$@"`, "sh", ...options], {
    stdio: ["pipe", "inherit", "inherit"],
    // As git does, the text stays on the terminal. It is always UTF-8, and its colours are those of cells.
    env: { LESS: "RX", LESSCHARSET: "utf-8", ...process.env },
  });
  // The terminal sends Ctrl-C to both. It ends a search in less, and must not end what feeds it.
  process.on("SIGINT", ignore);
  // Who quits early closes the pipe.
  child.stdin.on("error", ignore);
  child.stdin.end(`${text}\n`);
  const [code] = (await once(child, "close")) as [number | null];
  process.off("SIGINT", ignore);
  // A shell says so when it does not find the program, or may not run it.
  return code !== 126 && code !== 127;
}

function ignore(): void {}

/** Long lines are not folded, and it does not end by itself where all rows have room: columns have none. */
function lessOptions(version: number, { headLines, step }: Scrolled): string[] {
  const held = version >= HOLDS_LINES ? [`--header=${headLines}`] : [];
  return ["-R", "-S", "-+F", "-~", "-#", String(step), ...held, `-Ps${PROMPT}`];
}

/** In the syntax of less's prompts: `?c` asks whether columns to the left are hidden. */
const PROMPT = "right arrow\\: next columns   ?cleft arrow\\: back   .q\\: quit";
