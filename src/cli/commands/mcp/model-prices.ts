import { checkToolName } from "../../../core/config/names.ts";
import { Failure } from "../../../core/failure.ts";
import { matchesModel } from "../../../core/policy/model-pattern.ts";
import { remarkOnAge } from "../../prices/load-prices.ts";
import { WrongUsage } from "../../wrong-usage.ts";
import { pluralize } from "../../terminal/format.ts";
import { documentModels, PRICE_UNIT, readUsableModels, renderModels } from "../models/usable-models.ts";
import { findClientTool } from "./client-tool.ts";
import { answerOf, textView, type Question } from "./question.ts";
import { firstRows } from "./short-document.ts";

/** What the models cost that the client may use, as `models` says it. */
export const MODEL_PRICES: Question = {
  tool: {
    name: "model_prices",
    title: "Prices of the models that may be used",
    description:
      "The models that this tool may use, with upstream, context length and prices in US dollars per million tokens. Needs the running daemon.",
    parameters: {
      model: 'Only this model; "*" stands for any characters. Default: all',
      tool: "Name of the tool whose models to list. Default: the one that asks",
    },
  },
  async answer({ given, client, file }) {
    const tool = given["tool"] ?? findClientTool(client) ?? undefined;
    const problem = tool === undefined ? null : checkToolName(tool);
    if (problem !== null) throw new WrongUsage('"tool" cannot be a tool\'s name', problem);
    const { models, missing, prices } = await readUsableModels(tool, file);
    const pattern = given["model"];
    const wanted = models.filter(({ id }) => pattern === undefined || matchesModel([pattern], id));
    if (wanted.length === 0) throw new Failure("no model that may be used fits");
    const shown = firstRows(wanted);
    const left = wanted.length - shown.length;
    const explained = [
      PRICE_UNIT,
      shown.some((model) => model.prices === null) && "A model whose prices_from is null is unpriced.",
      left > 0 && `${pluralize(left, "more model")} not shown; name some with "model".`,
      missing.length > 0 && `The models of ${missing.join(", ")} are missing, because it has not answered.`,
      remarkOnAge(prices.table, Date.now()),
    ];
    const lines = explained.filter((line) => line !== false && line !== null);
    const text = [renderModels(shown, textView()), ...lines].join("\n");
    const document = documentModels({ models: shown, missing });
    return answerOf(text, { ...document, models_left_out: left, explained: lines });
  },
};
