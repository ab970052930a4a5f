import type { CaptureStatus } from "../../../core/capture/captured.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { parseDuration } from "../../budget/duration.ts";
import { defineCommand } from "../../command.ts";
import type { Argv } from "../../command-line.ts";
import { newToolOption, requireKnownTool } from "../../known-tools.ts";
import { LAST } from "../../last-id.ts";
import { readIfValid } from "../../load-config.ts";
import { note, print, printJson, printStyled } from "../../terminal/console.ts";
import { pluralize } from "../../terminal/format.ts";
import { printProse } from "../../terminal/prose.ts";
import { toPrintableLines } from "../../../core/text/printable.ts";
import { onlyOneOf, WrongUsage } from "../../wrong-usage.ts";
import { timeOf } from "../live/request-row.ts";
import { askCaptures, readCaptured } from "./ask.ts";
import { printDifference } from "./diff.ts";
import { exportHar } from "./export.ts";
import { printCaptures } from "./list.ts";
import { printExchange, textOfBody } from "./page.ts";

/** The longest that one runs, and that it is kept afterwards. */
const LONGEST_MS = 24 * 3_600_000;

/** `tollkeeper capture`: copies requests and responses of a tool for a while, to be looked into. */
export const command = defineCommand({
  builder: (yargs) =>
    newToolOption(yargs)
      .command("list", "List the captured requests", jsonOption, ({ json }) => list(json))
      .command("show <id>", "Show a captured request and its response", showOptions, show)
      .command(
        "diff <before> <after>",
        "Show what changed from one request to another",
        diffOptions,
        async ({ before, after }) => printDifference(await readCaptured(before), await readCaptured(after)),
      )
      .command(
        "export [id]",
        "Write captured requests to an HTTP archive, which is not encrypted",
        exportOptions,
        ({ har, id }) => exportHar(har, id),
      )
      .command(
        "stop <tool>",
        "End the capture of a tool; what it has stays until its time is over",
        (args) => args.positional("tool", { type: "string", demandOption: true, describe: "The tool" }),
        ({ tool }) => stop(tool),
      )
      .command("delete [id]", "Delete a capture now", deleteOptions, remove)
      .positional("tool", { type: "string", describe: "Tool whose requests and responses to copy" })
      .option("config", { type: "string" })
      .option("for", { type: "string", default: "10m", describe: "How long: 30m, 2h" })
      .option("keep", {
        type: "string",
        default: "1h",
        describe: "How long to keep them afterwards: 30m, 2h",
      })
      .option("max", { type: "number", requiresArg: true, describe: "Most requests; default: any number" })
      .option("json", { type: "boolean", default: false, describe: "Print JSON" })
      .check(({ max }) =>
        max === undefined || (Number.isInteger(max) && max > 0)
          ? true
          : '"--max" takes a whole number, such as 20',
      ),
  handler: async ({ tool: word, config, new: isNew, for: length, keep, max, json }) => {
    if (word === undefined)
      throw new WrongUsage("name a tool", "type for example: tollkeeper capture codex --for 10m");
    const query = { for: String(durationOf("--for", length)), keep: String(durationOf("--keep", keep)) };
    const tool = await requireKnownTool(word, await readIfValid(config), isNew);
    const started = await askCaptures("start-capture", {
      tool,
      ...query,
      ...(max !== undefined && { max: String(max) }),
    });
    if (json) printJson(started);
    else printStart(started);
  },
});

function printStart({ tool, until, deletedAt, most }: CaptureStatus): void {
  const name = toPrintable(tool);
  const count = most === null ? "" : `, at most ${pluralize(most, "request")}`;
  printProse([
    `Requests and responses of ${name} are captured until ${timeOf(until)}${count}.`,
    `They are encrypted, and deleted at ${timeOf(deletedAt)}. They have all texts, but no key or login that tollkeeper recognizes.`,
    "",
    "To see them, type:",
    "  tollkeeper capture list",
    "To stop, type:",
    `  ${formatCommand(["tollkeeper", "capture", "stop", tool])}`,
  ]);
}

function jsonOption(yargs: Argv<object>) {
  return yargs.option("json", { type: "boolean", default: false, describe: "Print JSON" });
}

async function list(json: boolean): Promise<void> {
  const found = await askCaptures("captures");
  if (json) printJson(found);
  else printCaptures(found.captures, found.requests);
}

function showOptions(yargs: Argv<object>) {
  return jsonOption(yargs)
    .positional("id", {
      type: "string",
      demandOption: true,
      describe: "Id of a captured request, or its beginning; last: the newest",
    })
    .option("full", { type: "boolean", default: false, describe: "All of each text" })
    .option("headers", { type: "boolean", default: false, describe: "The headers, too" });
}

function diffOptions(yargs: Argv<object>) {
  const describe = "Id of a captured request, or its beginning; last: the newest";
  return yargs
    .positional("before", { type: "string", demandOption: true, describe })
    .positional("after", { type: "string", demandOption: true, describe });
}

function exportOptions(yargs: Argv<object>) {
  return yargs
    .positional("id", { type: "string", describe: "Id of a captured request; default: all of them" })
    .option("har", {
      type: "string",
      demandOption: true,
      requiresArg: true,
      describe: "File to write: HAR 1.2, for a browser's developer tools",
    });
}

async function show(args: { id: string; full: boolean; headers: boolean; json: boolean }): Promise<void> {
  const captured = await readCaptured(args.id);
  if (!args.json) return printExchange(captured, { isFull: args.full, withHeaders: args.headers });
  const { head, request, response } = captured;
  const document = {
    ...head,
    request: { ...head.request, body: textOfBody(request) },
    response: { ...head.response, body: textOfBody(response) },
  };
  // As they were: neither names nor texts of others change.
  printStyled(toPrintableLines(JSON.stringify(document, null, 2)));
}

async function stop(word: string): Promise<void> {
  const tool = await requireKnownTool(word, await readIfValid(undefined), true);
  const { stopped } = await askCaptures("stop-capture", { tool });
  if (stopped === null) return print(`No capture of ${toPrintable(tool)} is running.`);
  print(
    `The capture of ${toPrintable(tool)} has ended with ${pluralize(stopped.requests, "request")}, which are kept until ${timeOf(stopped.deletedAt)}.`,
  );
  note(`to delete them now, type: tollkeeper capture delete ${stopped.id}`);
}

function deleteOptions(yargs: Argv<object>) {
  return yargs
    .positional("id", {
      type: "string",
      describe: "Number of a capture, from tollkeeper capture list; last: the newest",
    })
    .option("all", { type: "boolean", default: false, describe: "All captures" });
}

async function remove({ id, all }: { id?: string | undefined; all: boolean }): Promise<void> {
  if (id === undefined && !all)
    throw new WrongUsage("name a capture, or --all", "to see them, type: tollkeeper capture list");
  if (id !== undefined && all) throw onlyOneOf([`"${id}"`, "--all"]);
  const { deleted } = await askCaptures("delete-capture", id === undefined ? {} : { id: await numberOf(id) });
  print(deleted === 0 ? "There is no such capture." : `Deleted: ${pluralize(deleted, "capture")}.`);
}

/** Of no capture, `last` is no number, and deletes nothing. */
async function numberOf(id: string): Promise<string> {
  return id === LAST ? ((await askCaptures("captures")).captures.at(-1)?.id ?? id) : id;
}

function durationOf(option: string, text: string): number {
  const duration = parseDuration(text);
  if (duration !== null && duration <= LONGEST_MS) return duration;
  throw new WrongUsage(
    `"${option}" takes a duration of up to 24 hours`,
    `type for example: ${option} 10m or ${option} 2h`,
  );
}
