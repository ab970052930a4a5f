import type { OwnCommands } from "../../adapters/programs/own-command.ts";
import { describeRunning } from "../../core/ledger/running-request.ts";
import { toSnakeCase } from "../../core/text/snake-case.ts";
import type { FeedSources } from "../../local/dashboard/feeds.ts";
import type { ApprovedPages } from "../../local/dashboard/approved-pages.ts";
import type { OutlierWatch } from "../notices/outlier-watch.ts";
import { describeDaemon, type StatusParts } from "../status.ts";

/** More running requests than a screen shows. */
const MOST_LISTED = 200;

/** What the feeds tell of. */
export interface FeedParts extends StatusParts {
  outliers: Pick<OutlierWatch, "today">;
}

/** Lists the running requests, the newest of them at least. */
export function listRunning({ gate }: Pick<StatusParts, "gate">): object {
  return { total: gate.openExchanges, requests: gate.listOpen(MOST_LISTED).map(describeRunning) };
}

/** What the feeds tell of a daemon. `parts` returns null until it has started. */
export function feedSources(
  parts: () => FeedParts | null,
  sessions: ApprovedPages,
  commands: Pick<OwnCommands, "run">,
): FeedSources {
  const running = (): FeedParts => {
    const known = parts();
    if (known === null) throw new Error("the daemon is starting");
    return known;
  };
  return {
    // There is no session before the daemon has started.
    needsSession: () => parts()?.gate.settings.config.access.mode !== "open",
    isStopping: () => running().lifecycle.isStopping,
    status: async () => toSnakeCase(await describeDaemon(running())) as object,
    running: () => listRunning(running()),
    outOfLine: async () => toSnakeCase(await running().outliers.today()) as object | null,
    subscribe: (listener) => running().feed.watch(listener),
    ask: (query, isOver) => commands.run(query, isOver),
    sessions,
  };
}
