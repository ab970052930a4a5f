import { toPrintable } from "../text/printable.ts";
import { formatCommand } from "../text/shell-words.ts";
import type { Refusal } from "./refusal.ts";
import { quietest } from "./retry-triggers.ts";

/** Longer names of models are not repeated. */
const MAX_SHOWN_MODEL = 60;

/** An upstream, with the patterns of the models that it serves; null for all. */
interface Serving {
  upstream: { name: string; models: readonly string[] | null };
}

/** 404 with the code that both APIs use. None of the tool's upstreams serves the model. */
export function modelNotServed(model: string, destinations: readonly Serving[]): Refusal {
  const word = formatCommand([toPrintable(model)]);
  const served = destinations.map(({ upstream: { name, models } }) => `${name}: ${models?.join(" ") ?? "*"}`);
  const [problem, command] = ["no upstream serves the model", "tollkeeper route MODEL"];
  const isShown = word.length <= MAX_SHOWN_MODEL;
  return {
    code: "model_not_found",
    problem: isShown ? quietest(`no upstream serves the model ${word}`, problem) : problem,
    reason: `"models" in the configuration admits ${served.join("; ")}`,
    command: isShown ? quietest(`tollkeeper route ${word}`, command) : command,
  };
}

/** Services may read a form in several ways, so its model is for the record only. */
export const FORM = "the model of a form with files decides nothing";

/** The upstream, or whether the request may leave, depends on the model, and the body cannot be read in one way only. */
export function unreadableModel(fault: string): Refusal {
  return {
    code: "model_unreadable",
    problem: "the model of the request cannot be read",
    reason: fault,
    advice: `the configuration chooses upstreams or limits tools by the model, so the body must be plain JSON with exactly one "model"`,
    command: "tollkeeper route --help",
  };
}

/** Whether a batch may leave depends on the models of its requests, and the body cannot be read in one way only. */
export function unreadableBatch(fault: string): Refusal {
  return {
    code: "model_unreadable",
    problem: "the models of the batch cannot be read",
    reason: quietest(fault, "a request of the batch cannot be read in one way only"),
    advice: `the tool's models or budgets are limited, so the body must be plain JSON: "requests", each with "custom_id" and "params" that name one "model"`,
    command: "tollkeeper route --help",
  };
}

/** An alias stands for a model whose name cannot be in a path of Google's API. */
export function unplaceableModel(alias: string): Refusal {
  const word = toPrintable(alias);
  return {
    code: "model_not_found",
    problem: "the model that an alias names cannot be asked for by Google's API",
    ...(word.length <= MAX_SHOWN_MODEL && { reason: quietest(`its path has no room for ${word}`, "") }),
    advice: `change the alias in "aliases"`,
    command: "tollkeeper config edit",
  };
}
