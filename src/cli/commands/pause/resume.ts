import { askRunning } from "../../../daemon/running-daemon.ts";
import { describeScope, resumeCommand } from "../../../core/policy/pauses.ts";
import { explainAbsence } from "../../service/explain-absence.ts";
import { defineCommand } from "../../command.ts";
import { requireScope, scopeOf, scopeOptions, toQuery } from "./scope.ts";
import { note, print, printJson } from "../../terminal/console.ts";

/** `tollkeeper resume`: ends a pause. */
export const command = defineCommand({
  builder: (yargs) =>
    scopeOptions(yargs, "resume")
      .option("config", { type: "string" })
      .option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: async ({ tool, group, all, json, config }) => {
    const typed = scopeOf({ tool, group, all }, "resume");
    const asTyped = await askRunning("resume", toQuery(typed));
    if (asTyped === null) throw await explainAbsence();
    // What is paused ends whether or not anything else still knows its name. A name that pauses nothing may be mistyped.
    const scope = asTyped.wasPaused ? typed : await requireScope(typed, { config, new: null });
    const answer = scope === typed ? asTyped : await askRunning("resume", toQuery(scope));
    if (answer === null) throw await explainAbsence();
    if (json) return printJson(answer);
    const what = describeScope(scope);
    print(answer.wasPaused ? `No longer paused: ${what}` : `Not paused: ${what}`);
    for (const pause of answer.pauses)
      note(`still paused: ${describeScope(pause)}; to go on, type: ${resumeCommand(pause)}`);
  },
});
