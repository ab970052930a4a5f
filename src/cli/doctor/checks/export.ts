import { failure, ok, skipped, warning, type Check } from "../../../check/check.ts";
import type { Evidence } from "../evidence.ts";
import { commandFor } from "../fix-commands.ts";

/** Checks that the collector accepts what the daemon sends it, where the configuration names one. */
export const exportCheck: Check<Evidence> = {
  id: "export",
  title: "export",
  async run(evidence) {
    const config = await evidence.config();
    if (config === null) return [skipped("not checked: the configuration is invalid")];
    if (config.export.otlp === null) return [ok("nothing is exported")];
    const { status } = await evidence.daemon();
    if (status === null) return [skipped("not checked: the daemon does not run")];
    if (status.export === null) return [skipped("the running daemon has not read export.otlp yet")];
    const { endpoint, counts, problem, rejection } = status.export;
    const check = commandFor(evidence, "status");
    if (problem !== null)
      return [
        failure(
          `${endpoint} accepts nothing: ${problem.reason}; the ledger keeps everything until it does`,
          problem.hint ?? `see how long with: ${check}`,
        ),
      ];
    const lost = counts.rejected + counts.skipped;
    if (lost > 0) return [warning(`${endpoint} did not accept ${lost} records: ${rejection ?? ""}`, check)];
    return [ok(`${endpoint} accepts records`)];
  },
};
