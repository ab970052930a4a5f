import { ledgerDirectory } from "../../../adapters/paths.ts";
import type { Config } from "../../../core/config/config.ts";
import { Failure } from "../../../core/failure.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { findRecord } from "../../ledger/find-record.ts";
import { readLastRecords } from "../../ledger/last-records.ts";
import { LAST } from "../../last-id.ts";
import { loadConfig } from "../../load-config.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { documentRequest } from "../live/explain/document.ts";
import { examine } from "../live/explain/examine.ts";
import { explainBriefly } from "../live/explain/page.ts";
import { findSession } from "./find-session.ts";
import { answerOf, textView, type Asked, type Question } from "./question.ts";
import { projectFilter } from "./scope.ts";

/** Stands for the last request that missed the cache. */
const MISSED = "missed";

/** Fields of the record that an answer has. */
const FIELDS = [
  "id",
  "ts",
  "tool",
  "model",
  "session",
  "agent",
  "agent_kind",
  "outcome",
  "usage",
  "tokens",
] as const satisfies readonly (keyof UsageRecord)[];

/** Why a request cost what it did, and why it missed the cache, as `explain` says it. */
export const LAST_REQUEST: Question = {
  tool: {
    name: "last_request",
    title: "Why the last request cost what it did",
    description:
      "What the last request of this session cost, line by line, why it missed the cache, and what is usual.",
    parameters: {
      session: `Id of a session of this project, or "${LAST}": the newest. Default: the session that asks, else the newest`,
      request: `Id of a request of this project, "${LAST}", or "${MISSED}": the last one that missed the cache. Default: ${LAST}`,
    },
  },
  async answer(asked) {
    const config = await loadConfig(asked.file);
    const directory = ledgerDirectory(config);
    const { record, by } = await find(asked, config, directory);
    const request = await examine(record, { config, directory, prices: await loadPrices(config) });
    const { cost, worth, cache, miss, usual } = documentRequest(request) as Record<string, unknown>;
    const { facts, costs } = explainBriefly(request, textView());
    // The costs are in the document already, line by line.
    return answerOf([`Request ${record.id}: ${by}.`, ...facts, ...costs].join("\n"), {
      request_is: by,
      ...Object.fromEntries(FIELDS.map((name) => [name, record[name]])),
      cost,
      worth,
      cache,
      miss,
      usual,
      explained: facts,
    });
  },
};

interface FoundRequest {
  record: UsageRecord;
  /** In words, for the answer. */
  by: string;
}

/** @throws Failure where there is none, and for one of another project that is not allowed */
async function find(asked: Asked, config: Config, directory: string): Promise<FoundRequest> {
  const { given, scope } = asked;
  const wanted = given["request"] ?? LAST;
  if (wanted !== LAST && wanted !== MISSED) {
    const record = await findRecord(directory, wanted);
    if (!scope.hasAllProjects && record.project !== projectFilter(scope, undefined))
      throw new Failure("the request is of another project, or of none");
    return { record, by: "as asked" };
  }
  const { id, by, project } = await findSession(asked, config);
  const isWanted = (record: UsageRecord) =>
    record.session === id &&
    (project === undefined || record.project === project) &&
    (wanted === LAST || record.miss !== null);
  const [record] = await readLastRecords(directory, 1, isWanted);
  const what = wanted === LAST ? "last request" : "last request that missed the cache";
  if (record === undefined) throw new Failure(`the ledger has no ${what} of session ${toPrintable(id)}`);
  return { record, by: `the ${what} of session ${toPrintable(id)}, ${by}` };
}
