import { checkKeyName } from "../../core/config/names.ts";
import { hardenProcess } from "../../daemon/harden.ts";
import type { Argv } from "../command-line.ts";
import { reportOptions, type Command } from "../command.ts";
import type { KeyArguments } from "../keys/find-key.ts";
import { listKeys } from "../keys/list-keys.ts";
import { removeKey } from "../keys/remove-key.ts";
import { setKey, type SetKeyArguments } from "../keys/set-key.ts";
import { testKey } from "../keys/test-key.ts";
import { note } from "../terminal/console.ts";

/** How many positional arguments yargs counts for `key set`; the name is counted separately. */
const COMMAND_WORDS = 2;

const VALUE_ON_COMMAND_LINE =
  "a key cannot be an argument, because every program on this machine can read arguments; paste it when asked, or pipe it in";

/** `tollkeeper key`: stores, lists, tests and removes keys. Never prints a key. */
export const command: Command<object> = {
  builder: (yargs): Argv<object> =>
    yargs
      .middleware(() => {
        for (const warning of hardenProcess()) note(`warning: ${warning}`);
      })
      .command(
        "set [name]",
        "Store a key in the keychain; paste it at the hidden prompt, or pipe it in",
        setOptions,
        setKey,
      )
      .command(
        "list",
        "List the keys that the configuration names and those that are stored",
        reportOptions,
        listKeys,
      )
      .command(
        "test [name]",
        "Test a key by requesting the upstream's list of models",
        (args: Argv<object>) =>
          targetOptions(args).option("json", { type: "boolean", default: false, describe: "Print JSON" }),
        testKey,
      )
      .command(
        "remove [name]",
        "Remove a key from the keychain",
        (args: Argv<object>) =>
          targetOptions(args).option("yes", {
            alias: "y",
            type: "boolean",
            default: false,
            describe: "Remove it without asking",
          }),
        removeKey,
      )
      .demandCommand(1, "a subcommand is missing: set, list, test or remove"),
  handler: () => {},
};

function targetOptions(yargs: Argv<object>): Argv<KeyArguments> {
  return yargs
    .option("config", { type: "string" })
    .option("upstream", { type: "string", describe: "Upstream that the key is for; default: the only one" })
    .positional("name", { type: "string", describe: "Name of the key; default: the key of the upstream" })
    .check(({ name }) => (name === undefined ? true : (checkKeyName(name) ?? true)));
}

/** Replaces the error message of yargs for an extra argument, which would repeat it: it may be the key. */
function setOptions(yargs: Argv<object>): Argv<SetKeyArguments> {
  return targetOptions(yargs)
    .option("replace", { type: "boolean", default: false, describe: "Replace a stored key without asking" })
    .option("force", {
      type: "boolean",
      default: false,
      describe: "Store it even if it does not look like a key",
    })
    .option("test", {
      type: "boolean",
      default: true,
      describe: "Test the key before it is stored; --no-test stores it untested",
    })
    .strict(false)
    .strictOptions()
    .check(({ _: words }) => (words.length > COMMAND_WORDS ? VALUE_ON_COMMAND_LINE : true));
}
