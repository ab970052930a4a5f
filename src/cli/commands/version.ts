import { programBuild } from "../../adapters/program-build.ts";
import { programVersion } from "../../adapters/program.ts";
import { JOURNAL_VERSION } from "../../connect/journal/journal.ts";
import { CONFIG_VERSION } from "../../core/config/schema.ts";
import { TOKENS_VERSION } from "../../core/identity/token-entry.ts";
import { RECORD_VERSION } from "../../core/ledger/record.ts";
import { ROLLUP_VERSION } from "../../core/ledger/rollup/rollup-text.ts";
import { defineCommand } from "../command.ts";
import { print, printJson } from "../terminal/console.ts";

/** `tollkeeper version`: the version alone, or with `--json` what a bug report and an upgrade need to know. */
export const command = defineCommand({
  builder: (yargs) => yargs.option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: ({ json }) => {
    if (!json) return print(programVersion());
    printJson({
      version: programVersion(),
      build: programBuild(),
      node: process.versions.node,
      platform: process.platform,
      arch: process.arch,
      formats: {
        config: CONFIG_VERSION,
        record: RECORD_VERSION,
        rollup: ROLLUP_VERSION,
        journal: JOURNAL_VERSION,
        tokens: TOKENS_VERSION,
      },
    });
  },
});
