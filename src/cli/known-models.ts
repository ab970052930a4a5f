import { sanitizeText } from "../core/config/problem.ts";
import { findNearest } from "../core/text/did-you-mean.ts";
import { Failure } from "../core/failure.ts";
import { daemonStatus } from "../daemon/running-daemon.ts";
import { attempt } from "./attempt.ts";
import { listRunningModels } from "./connect/local-endpoint.ts";
import { resolveConfigPath } from "./load-config.ts";
import { note } from "./terminal/console.ts";

/**
 * Says on standard error that no upstream lists a model, and which listed one was probably meant. Says nothing when no daemon runs
 * with this configuration, whose lists these are, and when the list of an upstream is missing.
 */
export async function noteSimilarModels(
  models: readonly string[],
  config: string | undefined,
): Promise<void> {
  const { value: status } = await attempt(Failure, daemonStatus);
  // What its upstreams list says nothing about those of another configuration.
  if (status?.config.path !== resolveConfigPath(config)) return;
  // It fails with errors of several kinds, of which none is about the command that asks.
  const { value: listed } = await attempt(Error, () => listRunningModels(undefined, config));
  if (listed === null || listed.missing.length > 0) return;
  // The built-in sandbox responds to every model.
  if (Object.keys(listed.config.upstreams).length === 0) return;
  const known = listed.models.map(({ id }) => id);
  for (const model of models.filter((one) => !one.includes("*") && !known.includes(one))) {
    const nearest = findNearest(model, known);
    if (nearest !== null)
      note(
        `note: no upstream lists the model ${JSON.stringify(sanitizeText(model))}; did you mean ${JSON.stringify(nearest)}?`,
      );
  }
}
