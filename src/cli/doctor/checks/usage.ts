import { readLedger } from "../../../adapters/ledger-file.ts";
import { ledgerDirectory } from "../../../adapters/paths.ts";
import { ok, skipped, warning, type Check } from "../../../check/check.ts";
import { Failure } from "../../../core/failure.ts";
import { dayAt } from "../../../core/ledger/day.ts";
import { StreamsWithoutUsage } from "../../../core/ledger/streams-without-usage.ts";
import { usageRemedy } from "../../../tools/usage-remedy.ts";
import { attempt } from "../../attempt.ts";
import { pluralize } from "../../terminal/format.ts";
import type { Evidence } from "../evidence.ts";

/** Long enough for a tool that is used on workdays only. */
const DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Checks that tools ask for the usage of streams where services report it only on request. */
export const usageCheck: Check<Evidence> = {
  id: "usage",
  title: "usage",
  async run(evidence) {
    const config = await evidence.config();
    if (config === null) return [skipped("not checked: the configuration is invalid")];
    const from = dayAt(evidence.now() - DAYS * DAY_MS);
    const { value: tools } = await attempt(Failure, () => unaskingTools(ledgerDirectory(config), from));
    if (tools === null) return [skipped('not checked: see "ledger"')];
    if (tools.length === 0)
      return [ok(`every whole stream of Chat Completions of the last ${DAYS} days reported its tokens`)];
    return tools.map(({ tool, userAgent, streams }) =>
      warning(
        `${pluralize(streams, "stream")} of ${tool} reported no usage in the last ${DAYS} days`,
        usageRemedy(tool, userAgent),
      ),
    );
  },
};

async function unaskingTools(directory: string, from: string) {
  const streams = new StreamsWithoutUsage();
  for await (const record of readLedger(directory, { from })) {
    if (!("unreadable" in record)) streams.add(record);
  }
  return streams.tools();
}
