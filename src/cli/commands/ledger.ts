import type { Argv } from "../command-line.ts";
import type { Command } from "../command.ts";
import { exportOptions, exportRecords } from "./ledger/export.ts";
import { importLogs, importOptions } from "./ledger/import.ts";
import { prune, pruneOptions } from "./ledger/prune.ts";
import { reconcile, reconcileOptions } from "./ledger/reconcile.ts";
import { verify, verifyOptions } from "./ledger/verify.ts";

/** `tollkeeper ledger`: looks after the usage records as files. */
export const command: Command<object> = {
  builder: (yargs): Argv<object> =>
    yargs
      .command(
        "verify",
        "Check every line of the ledger, and print its sums; change nothing",
        verifyOptions,
        verify,
      )
      .command("export", "Print the records of a period, one a line", exportOptions, exportRecords)
      .command("prune", "Remove the records of days before one; cannot be undone", pruneOptions, prune)
      .command(
        "import [tool]",
        "Import past usage from the logs of Claude Code and Codex; kept apart from the ledger",
        importOptions,
        importLogs,
      )
      .command(
        "reconcile <file>",
        "Compare a service's own usage export with the ledger, by day and model",
        reconcileOptions,
        reconcile,
      )
      .demandCommand(1, "a subcommand is missing: verify, export, prune, import or reconcile"),
  handler: () => {},
};
