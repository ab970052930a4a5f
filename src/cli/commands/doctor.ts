import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { EXIT, print, printStyled } from "../terminal/console.ts";
import { gatherEvidence } from "../doctor/evidence.ts";
import { CHECKS } from "../doctor/list.ts";
import { isWell, renderFindings } from "../doctor/report.ts";
import { runChecks } from "../doctor/run.ts";
import { configPath } from "../../adapters/paths.ts";
import { programVersion } from "../../adapters/program.ts";

interface DoctorArguments {
  config?: string | undefined;
  json: boolean;
}

/** `tollkeeper doctor`: finds what is wrong and says what to type. Changes nothing. Exits 0 without a failure, 1 otherwise. */
export const command: Command<DoctorArguments> = {
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: async ({ config, json }) => {
    const evidence = gatherEvidence(config === undefined ? configPath() : resolve(config));
    const checks = await runChecks(CHECKS, evidence);
    if (json) print(JSON.stringify({ version: programVersion(), checks }, null, 2));
    else printStyled(renderFindings(checks, process.stdout.isTTY && !process.env["NO_COLOR"]));
    if (!isWell(checks)) process.exitCode = EXIT.failed;
  },
};
