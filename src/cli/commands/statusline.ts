import type { askBriefly } from "../../adapters/control-socket/ask-briefly.ts";
import { FLAG, NUMBER, nullOr, objectOf, TEXT } from "../../core/data-shape.ts";
import { findNearest } from "../../core/text/did-you-mean.ts";
import { findControlPath } from "../../daemon/control/find-path.ts";
import type { StatuslineFacts } from "../../daemon/statusline.ts";
import type { Command } from "../command.ts";
import type { StatuslineArguments } from "./statusline/arguments.ts";
import { askUntilRead } from "./statusline/ask-until-read.ts";
import { BARS, isBar, renderBar, type Shown } from "./statusline/bars.ts";
import { readInput } from "./statusline/input.ts";
import { DEFAULT_FORMAT, findUnknownName, render, VALUES } from "./statusline/render.ts";
import { findValues } from "./statusline/values.ts";

// This runs at each prompt, and main.ts starts it without yargs. What it imports is loaded each time: neither the configuration nor
// Node's HTTP client is among it.

/**
 * A daemon answers in 1 ms, but not while it starts, and its first answer is without what the ledger has. A line is drawn only when a
 * tool or a shell asks for the next one, so it has to be right rather than fast.
 */
const PATIENCE_MS = 1_000;

/** What is shown in place of costs. */
const TROUBLE = {
  off: "tollkeeper is off",
  late: "tollkeeper is busy",
  // The daemon is of an earlier version than this command.
  unclear: "tollkeeper needs a restart",
} as const;

/** Of what the daemon answers. Sums that are not as expected cannot be priced, which throws. */
type CheckedFacts = "isWhole" | "isReading" | "budgetPercent" | "limit" | "limits" | "failing" | "paused";
const FACTS = objectOf<Pick<StatuslineFacts, CheckedFacts>>({
  isWhole: FLAG,
  isReading: FLAG,
  budgetPercent: nullOr(NUMBER),
  limit: TEXT,
  limits: TEXT,
  failing: TEXT,
  paused: TEXT,
});

/** `tollkeeper statusline`: one line for Claude Code's status line, a shell's prompt or tmux. */
export const command: Command<StatuslineArguments> = {
  builder: (yargs) =>
    yargs
      .option("format", {
        type: "string",
        describe: `Text with placeholders: ${VALUES.map((name) => `{${name}}`).join(", ")}. Or one of: ${BARS.join(", ")}`,
      })
      .epilogue(
        "Reads Claude Code's JSON on standard input, if there is any. Exits with 0 even if no daemon runs, because prompts show errors.",
      ),
  handler: showStatusline,
};

/** Prints the line. Throws nothing that a prompt would have to show. */
export async function showStatusline({ format = DEFAULT_FORMAT }: StatuslineArguments): Promise<void> {
  const bar = isBar(format) ? format : null;
  const unknown = bar === null ? findUnknownName(format) : null;
  if (unknown !== null) process.stderr.write(`${describeUnknown(unknown)}\n`);
  const input = await readInput();
  const query = input.session === null ? "" : `?session=${encodeURIComponent(input.session)}`;
  const answer = await ask(`statusline${query}`);
  const shown =
    answer.kind === "answer" ? await readValues(answer.value, input) : { trouble: TROUBLE[answer.kind] };
  process.stdout.write(`${bar === null ? renderLine(shown, format) : renderBar(bar, shown)}\n`);
}

function renderLine(shown: Shown, format: string): string {
  return "trouble" in shown ? shown.trouble : render(format, shown.values, !process.env["NO_COLOR"]);
}

/** The line is shown all the same, with the name as it was typed. */
function describeUnknown(name: string): string {
  const nearest = findNearest(name, VALUES);
  const guess =
    nearest === null ? `the placeholders are: ${VALUES.join(", ")}` : `did you mean {${nearest}}?`;
  return `note: the format has an unknown placeholder {${name}}; ${guess}`;
}

async function ask(question: string): ReturnType<typeof askBriefly> {
  try {
    return await askUntilRead(await findControlPath(), question, PATIENCE_MS);
  } catch {
    // Without a home directory, no daemon is known. Every other command says so.
    return { kind: "off" };
  }
}

async function readValues(value: unknown, input: Parameters<typeof findValues>[1]): Promise<Shown> {
  if (FACTS.findFault(value, "") !== null) return { trouble: TROUBLE.unclear };
  try {
    return { values: await findValues(value as StatuslineFacts, input) };
  } catch {
    return { trouble: TROUBLE.unclear };
  }
}
