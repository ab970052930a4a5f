import { checkName, parseToolName } from "../../core/config/names.ts";
import { Failure } from "../../core/failure.ts";
import { looksLikeLocalToken } from "../../core/secrets/local-token.ts";
import { toPrintable } from "../../core/text/printable.ts";
import type { Argv } from "../command-line.ts";
import type { Command } from "../command.ts";
import { newToolOption, refuseSimilarTool } from "../known-tools.ts";
import { loadConfig } from "../load-config.ts";
import { note, print, printJson } from "../terminal/console.ts";
import { pluralize } from "../terminal/format.ts";
import { localTime } from "../terminal/short-time.ts";
import { formatTable, type Column } from "../terminal/table.ts";
import { addToken, listTokens, revokeTokens } from "../tokens/tokens.ts";

/** `tollkeeper token`: manages local tokens, with which tools authenticate under `"access": "token"`. */
export const command: Command<object> = {
  builder: (yargs): Argv<object> =>
    yargs
      .command(
        "add <tool>",
        "Register a token for a tool and print it once; only its hash is stored",
        addOptions,
        ({ config, tool, note: purpose, new: isNew }) => add(nameOf(tool), purpose ?? null, config, isNew),
      )
      .command(
        "list",
        "List the registered tokens by id; never show a token",
        (args) => args.option("json", { type: "boolean", default: false, describe: "Print JSON" }),
        ({ json }) => list(json),
      )
      .command(
        "revoke <tool>",
        "Revoke all tokens of a tool, or one",
        (args) =>
          toolArgument(args).option("id", { type: "string", describe: "Revoke only the token with this id" }),
        ({ tool, id }) => revoke(nameOf(tool), id),
      )
      .demandCommand(1, "a subcommand is missing: add, list or revoke"),
  handler: () => {},
};

function addOptions(yargs: Argv<object>) {
  return newToolOption(toolArgument(yargs))
    .option("config", { type: "string" })
    .option("note", { type: "string", describe: "What the token is for, shown by token list" });
}

function toolArgument(yargs: Argv<object>) {
  return yargs
    .positional("tool", { type: "string", demandOption: true, describe: "Name of the tool in the ledger" })
    .check(({ tool }) => {
      if (looksLikeLocalToken(tool)) return "a token cannot be an argument; name the tool that it belongs to";
      return checkName(tool.toLowerCase()) ?? true;
    });
}

/** The argument check has accepted the name. */
function nameOf(tool: string): string {
  return parseToolName(tool) ?? tool;
}

/** Prints only the token on standard output, so that it can be piped. */
async function add(
  tool: string,
  purpose: string | null,
  configFile: string | undefined,
  isNew: boolean,
): Promise<void> {
  const config = await loadConfig(configFile);
  const { access } = config;
  await refuseSimilarTool(tool, config, isNew);
  const { id, token } = await addToken(tool, purpose);
  print(token);
  note(`note: this is shown only once; revoke it with: tollkeeper token revoke ${tool} --id ${id}`);
  if (access.mode === "open") {
    note(
      'note: "access" is "open", so no tool needs it yet; to require tokens, type: tollkeeper config set access token',
    );
  }
}

const NO_TOKEN =
  "There is no token. To make one for a tool, type for example:\n  tollkeeper token add my-script";

const COLUMNS = ["id", "tool", "created", "note"].map((head): Column => ({ head, align: "left" }));

function list(isJson: boolean): void {
  const tokens = listTokens();
  // The hash is of no use to a reader.
  if (isJson) {
    return printJson(
      tokens.map(({ id, tool, createdAt, note: purpose }) => ({ id, tool, createdAt, note: purpose })),
    );
  }
  if (tokens.length === 0) return print(NO_TOKEN);
  const rows = tokens.map((entry) => [
    entry.id,
    entry.tool,
    localTime(entry.createdAt),
    toPrintable(entry.note ?? ""),
  ]);
  print(formatTable(COLUMNS, rows));
}

async function revoke(tool: string, id: string | undefined): Promise<void> {
  const revoked = await revokeTokens((entry) => entry.tool === tool && (id === undefined || entry.id === id));
  if (revoked.length > 0) return print(`revoked ${pluralize(revoked.length, "token")} of ${tool}`);
  const which = id === undefined ? "token" : `token with the id ${id}`;
  // A mistyped name must not look like success.
  throw new Failure(`the tool "${tool}" has no ${which}`, "to see all tokens, type: tollkeeper token list");
}
