import { toPrintable } from "../../../core/text/printable.ts";
import { DEFAULT_SINCE, readCalendar, readPeriod } from "../../ledger/period-options.ts";
import { LAST } from "../../last-id.ts";
import { loadConfig } from "../../load-config.ts";
import { readSession, remarksOnSession, renderSession, sessionDocument } from "../usage/session-report.ts";
import { findSession } from "./find-session.ts";
import { answerOf, textView, type Question } from "./question.ts";
import { shortenReport } from "./short-document.ts";

/** What a session has cost, as `usage session` says it. */
export const SESSION_COST: Question = {
  tool: {
    name: "session_cost",
    title: "Cost of a session",
    description:
      "What this session has cost so far: requests, tokens and US dollars for each of its agents, and why its requests missed the cache. The answer says which session is meant.",
    parameters: {
      session: `Id of a session of this project, or "${LAST}": the newest. Default: the session that asks, else the newest`,
      since: `Start of the period, such as today, 7d or 2026-11-01. Default: ${DEFAULT_SINCE}`,
    },
  },
  async answer(asked) {
    const calendar = readCalendar({});
    const period = readPeriod({ since: asked.given["since"] ?? DEFAULT_SINCE }, calendar);
    const config = await loadConfig(asked.file);
    const { id, by, project } = await findSession(asked, config);
    const session = await readSession(config, id, { period, calendar, zone: null, filter: { project } });
    const text = `Session ${toPrintable(id)}: ${by}.\n${renderSession(session, textView())}`;
    const figures = {
      own: session.own.sums,
      sandbox: session.sandbox.sums,
      table: session.report.prices.table,
      remarks: remarksOnSession(session),
    };
    return answerOf(text, { session_is: by, ...shortenReport(sessionDocument(session), figures) });
  },
};
