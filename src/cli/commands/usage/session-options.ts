import type { Argv } from "../../command-line.ts";
import { periodOptions, type PeriodArguments } from "../../ledger/period-options.ts";
import { WrongUsage } from "../../wrong-usage.ts";

/** Arguments of `usage session`. */
export interface SessionArguments extends PeriodArguments {
  id: string;
  config?: string | undefined;
  json?: boolean | undefined;
  wide?: boolean | undefined;
}

/** Of `usage`, what says nothing of one session. */
const WITHOUT = ["by", "csv", "oneline", "commits", "schema", "session"] as const;

/** Adds the options for {@link SessionArguments}. */
export function sessionOptions(yargs: Argv<object>): Argv<SessionArguments> {
  return periodOptions(yargs)
    .positional("id", {
      type: "string",
      demandOption: true,
      describe: "Id of the session, as in usage --by session; last: that of the newest request",
    })
    .option("config", { type: "string" })
    .option("json", { type: "boolean", describe: "Print JSON" })
    .option("wide", { type: "boolean", describe: "Show all columns" })
    .check((given) => {
      const wrong = WITHOUT.find((name) => (given as Record<string, unknown>)[name] !== undefined);
      if (wrong !== undefined)
        throw new WrongUsage(`"usage session" takes no --${wrong}`, "to see it as a document, add: --json");
      return true;
    });
}
