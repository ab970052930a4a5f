import { sanitizeText } from "../core/config/problem.ts";
import { Failure } from "../core/failure.ts";
import { findNearest } from "../core/text/did-you-mean.ts";
import { attempt } from "./attempt.ts";
import { listRunningModels } from "./connect/local-endpoint.ts";
import { note } from "./terminal/console.ts";

/**
 * Says on standard error that no upstream lists a model, and which listed one was probably meant. Says nothing when no daemon runs,
 * whose lists these are, and when the list of an upstream is missing.
 */
export async function noteSimilarModels(models: readonly string[], config: string | undefined): Promise<void> {
  const { value: listed } = await attempt(Failure, () => listRunningModels(undefined, config));
  if (listed === null || listed.missing.length > 0) return;
  const known = listed.models.map(({ id }) => id);
  for (const model of models.filter((one) => !one.includes("*") && !known.includes(one))) {
    const nearest = findNearest(model, known);
    if (nearest !== null)
      note(
        `note: no upstream lists the model ${JSON.stringify(sanitizeText(model))}; did you mean ${JSON.stringify(nearest)}?`,
      );
  }
}
