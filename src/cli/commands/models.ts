import { checkToolName } from "../../core/config/names.ts";
import { preparePolicies } from "../../core/policy/tool-policy.ts";
import { defineCommand } from "../command.ts";
import { remarkOnAge } from "../prices/load-prices.ts";
import { noteSimilarTool } from "../known-tools.ts";
import { hasColours, note, printJson, printStyled } from "../terminal/console.ts";
import { printProse } from "../terminal/prose.ts";
import { documentModels, PRICE_UNIT, readUsableModels, renderModels } from "./models/usable-models.ts";

/** `tollkeeper models`: asks the running daemon which models there are, and says what is known of each. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("tool", { type: "string", describe: "Tool whose models to list; default: any" })
      .option("json", { type: "boolean", default: false, describe: "Print JSON" })
      .check(({ tool }) => tool === undefined || (checkToolName(tool) ?? true)),
  handler: async ({ config: file, tool, json }) => {
    const usable = await readUsableModels(tool, file);
    if (json) return printJson(documentModels(usable));
    const { models, missing, config, prices } = usable;
    if (models.length === 0) note("No upstream lists a model.");
    else {
      const width = process.stdout.columns || Infinity;
      printStyled(renderModels(models, { width, isColoured: hasColours() }));
      printProse(["", PRICE_UNIT]);
    }
    await noteSimilarTool(tool, config);
    const limit = preparePolicies(config)?.(tool ?? "")?.models ?? null;
    if (limit !== null)
      note(
        `Only what group ${limit.group} allows is listed: ${limit.patterns.join(" ")}; to change that, type: tollkeeper group set ${limit.group} --models PATTERN,...`,
      );
    if (missing.length > 0)
      note(
        `The models of ${missing.join(", ")} are missing, because ${missing.length === 1 ? "it has" : "they have"} not answered. To see why, type: tollkeeper status`,
      );
    const remark = remarkOnAge(prices.table, Date.now());
    if (remark !== null) printProse([remark]);
  },
});
