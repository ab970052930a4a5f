import { askRunning } from "../../../daemon/running-daemon.ts";
import { describeScope, resumeCommand } from "../../../core/policy/pauses.ts";
import { explainAbsence } from "../../service/explain-absence.ts";
import { defineCommand } from "../../command.ts";
import { scopeOf, scopeOptions, toQuery } from "./scope.ts";
import { note, print, printJson } from "../../terminal/console.ts";

/** `tollkeeper resume`: ends a pause. */
export const command = defineCommand({
  builder: (yargs) =>
    scopeOptions(yargs, "resume").option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: async ({ tool, group, all, json }) => {
    const scope = scopeOf({ tool, group, all }, "resume");
    const answer = await askRunning("resume", toQuery(scope));
    if (answer === null) throw await explainAbsence(null);
    if (json) return printJson(answer);
    const what = describeScope(scope);
    print(answer.wasPaused ? `No longer paused: ${what}` : `Not paused: ${what}`);
    for (const pause of answer.pauses)
      note(`still paused: ${describeScope(pause)}; to go on, type: ${resumeCommand(pause)}`);
  },
});
