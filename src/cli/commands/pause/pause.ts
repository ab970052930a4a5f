import { askRunning } from "../../../daemon/running-daemon.ts";
import { describeScope, resumeCommand } from "../../../core/policy/pauses.ts";
import { explainAbsence } from "../../service/explain-absence.ts";
import { defineCommand } from "../../command.ts";
import { newToolOption } from "../../known-tools.ts";
import { requireScope, scopeOf, scopeOptions, toQuery } from "./scope.ts";
import { print, printJson } from "../../terminal/console.ts";
import { pluralize } from "../../terminal/format.ts";

/** `tollkeeper pause`: refuses every request of a tool, of a group or of all, until `resume`. */
export const command = defineCommand({
  builder: (yargs) =>
    newToolOption(scopeOptions(yargs, "pause"))
      .option("config", { type: "string" })
      .option("cut", { type: "boolean", default: false, describe: "Also end the requests that are running" })
      .option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: async ({ tool, group, all, cut, json, ...known }) => {
    const scope = await requireScope(scopeOf({ tool, group, all }, "pause"), known);
    const query = { ...toQuery(scope), cut: cut ? "1" : "0" };
    const answer = await askRunning("pause", query);
    if (answer === null) throw await explainAbsence();
    if (json) return printJson(answer);
    const ended = cut ? `; ${pluralize(answer.cut, "running request")} ended` : "; running requests go on";
    print(`Paused: ${describeScope(scope)}${ended}. To go on, type: ${resumeCommand(scope)}`);
  },
});
