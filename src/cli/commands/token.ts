import type { Argv, CommandModule } from "yargs";
import { checkName, parseToolName } from "../../core/config/names.ts";
import { Failure } from "../../core/failure.ts";
import { looksLikeLocalToken } from "../../core/secrets/local-token.ts";
import { toPrintable } from "../../core/text/printable.ts";
import type { TokenEntry } from "../../core/identity/token-entry.ts";
import type { Command } from "../command.ts";
import { note, print } from "../terminal/console.ts";
import { pluralize } from "../terminal/numbers.ts";
import { loadConfig } from "../load-config.ts";
import { formatTable, type Column } from "../terminal/table.ts";
import { addToken, listTokens, revokeTokens } from "../tokens/tokens.ts";

interface AddArguments {
  config?: string | undefined;
  tool: string;
  note?: string | undefined;
}

interface ListArguments {
  json: boolean;
}

interface RevokeArguments {
  tool: string;
  id?: string | undefined;
}

const addCommand: CommandModule<object, AddArguments> = {
  command: "add <tool>",
  describe: "Make a token for a tool, and print it: once, for only its hash is kept",
  builder: (yargs) =>
    toolArgument(yargs)
      .option("config", { type: "string" })
      .option("note", { type: "string", describe: "What it is for, shown by token list" }),
  handler: add,
};

const listCommand: CommandModule<object, ListArguments> = {
  command: "list",
  describe: "Show every registered token, by its id; never the token",
  builder: (yargs) => yargs.option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: ({ json }) => {
    const tokens = listTokens().map(toShown);
    if (json) print(JSON.stringify(tokens, null, 2));
    else if (tokens.length === 0) print("no token is registered");
    else print(renderTokens(tokens));
  },
};

const revokeCommand: CommandModule<object, RevokeArguments> = {
  command: "revoke <tool>",
  describe: "Take back every token of a tool, or one of them",
  builder: (yargs) => toolArgument(yargs).option("id", { type: "string", describe: "The one with this id" }),
  handler: revoke,
};

/** `tollkeeper token`: manages local tokens, with which tools authenticate under `"access": "token"`. */
export const command: Command<object> = {
  builder: (yargs): Argv<object> =>
    yargs
      .command(addCommand)
      .command(listCommand)
      .command(revokeCommand)
      .demandCommand(1, "say what to do with tokens: add, list or revoke"),
  handler: () => {},
};

function toolArgument(yargs: Argv<object>): Argv<{ tool: string }> {
  return yargs
    .positional("tool", { type: "string", demandOption: true, describe: "Its name in the ledger" })
    .check(({ tool }) => {
      if (looksLikeLocalToken(tool)) return "a token is never an argument; name the tool that it belongs to";
      return checkName(tool.toLowerCase()) ?? true;
    });
}

/** Prints only the token on standard output, so that it can be piped. */
async function add({ config, tool, note: purpose }: AddArguments): Promise<void> {
  const { access } = await loadConfig(config);
  const { id, token } = await addToken(nameOf(tool), purpose ?? null);
  print(token);
  note(`note: this is shown once; take it back with: tollkeeper token revoke ${nameOf(tool)} --id ${id}`);
  if (access.mode === "open") {
    note('note: no tool needs it yet, for "access" is "open"; ask for tokens with: tollkeeper config edit');
  }
}

async function revoke({ tool, id }: RevokeArguments): Promise<void> {
  const name = nameOf(tool);
  const revoked = await revokeTokens((entry) => entry.tool === name && (id === undefined || entry.id === id));
  if (revoked.length > 0) return print(`revoked ${pluralize(revoked.length, "token")} of ${name}`);
  const which = id === undefined ? "token" : "such token";
  // A mistyped name must not look like success.
  throw new Failure(`${name} has no ${which}`, "see all of them with: tollkeeper token list");
}

/** The argument check has accepted the name. */
function nameOf(tool: string): string {
  return parseToolName(tool) ?? tool;
}

const COLUMNS = ["id", "tool", "made", "for"].map((head): Column => ({ head, align: "left" }));

/** A token as listed: without its hash, which is of no use to a reader. */
type ShownToken = Omit<TokenEntry, "hash">;

function toShown({ id, tool, createdAt, note: purpose }: TokenEntry): ShownToken {
  return { id, tool, createdAt, note: purpose };
}

function renderTokens(tokens: readonly ShownToken[]): string {
  const rows = tokens.map(({ id, tool, createdAt, note: purpose }) => [
    id,
    tool,
    createdAt,
    toPrintable(purpose ?? ""),
  ]);
  return formatTable(COLUMNS, rows);
}
