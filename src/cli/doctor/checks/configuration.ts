import type { Evidence } from "../evidence.ts";
import { findMisnamedConfig, findMissingConfig } from "../../../daemon/named-config.ts";
import { formatProblem } from "../../../core/config/problem.ts";
import type { Config } from "../../../core/config/config.ts";
import { pluralize, displayPath } from "../../terminal/format.ts";
import { failure, ok, warning, type Check } from "../../../check/check.ts";
import { commandFor } from "../fix-commands.ts";

/** Checks that the configuration is valid and names an upstream. */
export const configurationCheck: Check<Evidence> = {
  id: "configuration",
  title: "configuration",
  async run(evidence) {
    const path = displayPath(evidence.configFile, evidence.home);
    const edit = commandFor(evidence, "config edit");
    if (findMissingConfig(evidence.configFile) !== null) return [failure(`${path} does not exist`, edit)];
    const misnamed = findMisnamedConfig(evidence.configFile);
    if (misnamed !== null) return [failure(misnamed.message, misnamed.hint ?? edit)];
    const reading = await evidence.configReading();
    if (!reading.ok) {
      return reading.problems.map(({ hint, ...problem }) =>
        failure(formatProblem(path, problem), hint ?? edit),
      );
    }
    const { config, exists, managed, overruled } = reading;
    const unused = overruled.map((problem) => failure(formatProblem(path, problem), edit));
    if (Object.keys(config.upstreams).length === 0) {
      const file = exists ? `${path} names no upstream` : `${path} does not exist`;
      const what = `${file}: the built-in sandbox makes up the responses`;
      return [...unused, warning(what, commandFor(evidence, "setup"))];
    }
    if (unused.length > 0) return unused;
    const own = exists ? `${path} is valid` : `${path} does not exist`;
    const below = managed === null ? "" : `, above ${managed.path}`;
    return [ok(`${own}${below}: ${summaryOf(config)}`)];
  },
};

function summaryOf({ upstreams, tools, listen }: Config): string {
  const counts = [pluralize(Object.keys(upstreams).length, "upstream")];
  const named = Object.keys(tools).length;
  if (named > 0) counts.push(pluralize(named, "tool"));
  return `${counts.join(", ")}, port ${listen.port}`;
}
