import type { Config } from "../../../core/config/config.ts";
import { localCalendar } from "../../../core/ledger/calendar.ts";
import { payerOf, type AccountStatus, type WindowStatus } from "../../../core/limits/account-limits.ts";
import { lengthOf } from "../../../core/limits/limit-names.ts";
import { MOVERS, shareOut, type MovedBy } from "../../../core/limits/moved-by.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { readUsage } from "../usage/read-usage.ts";
import type { MovedAccount } from "./movers.ts";

/** Finds in the ledger who used each window that is named by its length, since it began. Throws like {@link readUsage}. */
export async function findMovers(
  accounts: readonly AccountStatus[],
  config: Config,
): Promise<MovedAccount[]> {
  const prices = accounts.length === 0 ? undefined : await loadPrices(config);
  const found: MovedAccount[] = [];
  for (const { account, windows } of accounts) {
    const moved: MovedAccount["windows"] = [];
    for (const window of windows)
      moved.push({ ...window, movedBy: await findMoversOf(account, window, config, prices) });
    found.push({ account, windows: moved });
  }
  return found;
}

async function findMoversOf(
  account: string,
  { window, state, resetsAt }: WindowStatus,
  config: Config,
  prices: PriceBook | undefined,
): Promise<MovedBy | null> {
  const length = lengthOf(window);
  if (state === "reset" || resetsAt === null || length === null) return null;
  const since = Date.parse(resetsAt) - length;
  const period = { since, until: null, title: "" };
  const filter = payerOf(account, config.upstreams);
  const calendar = localCalendar();
  const report = await readUsage(config, { by: [...MOVERS], period, calendar, zone: null, filter }, prices);
  return shareOut(report, since);
}
