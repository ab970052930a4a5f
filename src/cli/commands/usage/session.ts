import { homeDirectory, ledgerDirectory } from "../../../adapters/paths.ts";
import { nameLastSession } from "../../ledger/last-session.ts";
import { readCalendar, readPeriod, zoneOf } from "../../ledger/period-options.ts";
import { loadConfig } from "../../load-config.ts";
import { hasColours, printJson, printStyled } from "../../terminal/console.ts";
import { readSession, renderSession, sessionDocument } from "./session-report.ts";
import type { SessionArguments } from "./session-options.ts";

/** `tollkeeper usage session ID`: what each agent of a session used, as a tree. */
export async function showSession(given: SessionArguments): Promise<void> {
  const { json, wide } = given;
  const calendar = readCalendar(given);
  const period = readPeriod(given, calendar);
  const { tool, model, project, branch, upstream, key } = given;
  const filter = { tool, model, project, branch, upstream, key };
  const config = await loadConfig(given.config);
  const named = await nameLastSession({ ...filter, session: given.id }, ledgerDirectory(config), period);
  const session = await readSession(config, named.session, { period, calendar, zone: zoneOf(given), filter });
  if (json === true) return printJson(sessionDocument(session));
  const view = {
    width: process.stdout.columns || Infinity,
    isTerminal: process.stdout.isTTY,
    isColoured: hasColours(),
    isWide: wide === true,
    home: homeDirectory(),
  };
  printStyled(renderSession(session, view));
}
