import { reportOptions, type Command, type ReportArguments } from "../command.ts";
import { resolveConfigPath } from "../load-config.ts";
import { EXIT, hasColours, print, printStyled } from "../terminal/console.ts";
import { gatherEvidence } from "../doctor/evidence.ts";
import { CHECKS } from "../doctor/checks.ts";
import { isHealthy, renderFindings } from "../doctor/report.ts";
import { runChecks } from "../doctor/run.ts";
import { programVersion } from "../../adapters/program.ts";

/** `tollkeeper doctor`: finds problems and says how to fix them. Changes nothing. Exits with 1 when there is a failure, else 0. */
export const command: Command<ReportArguments> = {
  builder: reportOptions,
  handler: async ({ config, json }) => {
    const evidence = gatherEvidence(resolveConfigPath(config));
    const checks = await runChecks(CHECKS, evidence);
    if (json) print(JSON.stringify({ version: programVersion(), checks }, null, 2));
    else printStyled(renderFindings(checks, hasColours()));
    if (!isHealthy(checks)) process.exitCode = EXIT.failed;
  },
};
