import { writeProblem } from "../../core/config/problem.ts";
import type { Config } from "../../core/config/config.ts";
import { countOf } from "../terminal/count-of.ts";
import { failure, ok, warning, type Check } from "./finding.ts";
import { commandFor, shorten } from "../hints.ts";

/** Is there a configuration, is it good, and does it name an upstream? */
export const configurationCheck: Check = {
  id: "configuration",
  title: "configuration",
  async look(evidence) {
    const path = shorten(evidence.configFile, evidence.home);
    const reading = await evidence.reading();
    if (!reading.ok) {
      return reading.problems.map((problem) =>
        failure(writeProblem(path, problem), commandFor(evidence, "config edit")),
      );
    }
    if (Object.keys(reading.config.upstreams).length === 0) {
      const file = reading.exists ? `${path} names no upstream` : `there is no ${path}`;
      return [
        warning(`${file}: the built-in sandbox makes the answers up`, commandFor(evidence, "config edit")),
      ];
    }
    return [ok(`${path} is good: ${summaryOf(reading.config)}`)];
  },
};

function summaryOf({ upstreams, tools, listen }: Config): string {
  const counts = [countOf(Object.keys(upstreams).length, "upstream")];
  const named = Object.keys(tools).length;
  if (named > 0) counts.push(countOf(named, "tool"));
  return `${counts.join(", ")}, port ${listen.port}`;
}
