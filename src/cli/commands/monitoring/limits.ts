import type { AccountStatus, WindowStatus } from "../../../core/limits/account-limits.ts";
import { describeHold, describeLimit } from "../../../core/limits/describe-limits.ts";
import { localCalendar } from "../../../core/ledger/calendar.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import type { Answers } from "../../../daemon/control/answer-shapes.ts";
import { askRunning } from "../../../daemon/running-daemon.ts";
import { attempt } from "../../attempt.ts";
import { loadConfig } from "../../load-config.ts";
import { messageOf } from "../../../core/failure.ts";
import { formatMovers, type MovedAccount } from "./movers.ts";
import { reportOptions, type Command, type ReportArguments } from "../../command.ts";
import { explainAbsence } from "../../service/explain-absence.ts";
import { note, print, printJson } from "../../terminal/console.ts";
import { printProse } from "../../terminal/prose.ts";

/** `tollkeeper limits`: shows how much of the services' own limits is used, by the responses that have passed. */
export const command: Command<ReportArguments> = {
  alone: { json: false },
  builder: reportOptions,
  handler: async ({ config: file, json }) => {
    const status = await askRunning("limits");
    if (status === null) throw await explainAbsence();
    // The windows are known also where the configuration or the ledger cannot be read.
    const { value, failure } = await attempt(Error, async () =>
      (await import("./find-movers.ts")).findMovers(status.accounts, await loadConfig(file)),
    );
    const accounts = value ?? status.accounts.map(withoutMovers);
    if (json) printJson({ ...status, accounts });
    else if (accounts.length === 0) printProse(NOTHING_SEEN);
    else {
      print(formatLimits({ ...status, accounts }));
      printHolds(status);
      note(accounts.some(isMoved) ? `${OTHERS_COUNT} ${CORRELATION}` : OTHERS_COUNT);
    }
    if (failure !== null) note(`It is not known who used the windows: ${messageOf(failure)}`);
  },
};

/** A daemon of an earlier version sends none. */
function printHolds({ holds, at }: Omit<Answers["limits"], "holds"> & Partial<Answers["limits"]>): void {
  for (const hold of holds ?? [])
    print(
      `\n${toPrintable(describeHold(hold, Date.parse(at), localCalendar()))}\nTo let it pass, type: ${hold.lift}`,
    );
}

/** Said below limits. */
export const OTHERS_COUNT = "Other devices and programs with the same account count, too.";

/** An account whose windows may say what has moved them. */
interface ShownAccount {
  account: string;
  windows: readonly (WindowStatus & Partial<Pick<MovedAccount["windows"][number], "movedBy">>)[];
}

/** Said where shares are shown. */
const CORRELATION =
  "The shares are of the tokens that passed tollkeeper since a window began; the service may count in another way.";

function withoutMovers({ account, windows }: AccountStatus): MovedAccount {
  return { account, windows: windows.map((window) => ({ ...window, movedBy: null })) };
}

function isMoved({ windows }: MovedAccount): boolean {
  return windows.some(({ movedBy }) => movedBy !== null);
}

/** Formats the limits of all accounts. */
export function formatLimits({ accounts, at }: { accounts: readonly ShownAccount[]; at: string }): string {
  const now = Date.parse(at);
  return accounts.map((account) => formatAccount(account, now).join("\n")).join("\n\n");
}

function formatAccount({ account, windows }: ShownAccount, now: number): string[] {
  const calendar = localCalendar();
  const lines = windows.flatMap(({ movedBy, ...window }) => [
    `  ${describeLimit(window, now, calendar)}`,
    ...formatMovers(movedBy ?? null).map((line) => `    ${toPrintable(line)}`),
  ]);
  return [toPrintable(account), ...lines];
}

/** Said where no limit is known. */
export const NOTHING_SEEN = [
  "No response has said anything of limits yet. tollkeeper does not ask for them: they come with the responses to your tools.",
];
