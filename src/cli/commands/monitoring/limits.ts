import type { AccountStatus } from "../../../core/limits/account-limits.ts";
import { describeHold, describeLimit } from "../../../core/limits/describe-limits.ts";
import { localCalendar } from "../../../core/ledger/calendar.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import type { Answers } from "../../../daemon/control/answer-shapes.ts";
import { askRunning } from "../../../daemon/running-daemon.ts";
import { reportOptions, type Command, type ReportArguments } from "../../command.ts";
import { explainAbsence } from "../../service/explain-absence.ts";
import { note, print, printJson } from "../../terminal/console.ts";
import { printProse } from "../../terminal/prose.ts";

/** `tollkeeper limits`: shows how much of the services' own limits is used, by the responses that have passed. */
export const command: Command<ReportArguments> = {
  alone: { json: false },
  builder: reportOptions,
  handler: async ({ json }) => {
    const status = await askRunning("limits");
    if (status === null) throw await explainAbsence();
    if (json) return printJson(status);
    if (status.accounts.length === 0) return printProse(NOTHING_SEEN);
    print(formatLimits(status));
    printHolds(status);
    note(OTHERS_COUNT);
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

/** Formats the limits of all accounts. */
export function formatLimits({ accounts, at }: Answers["limits"]): string {
  const now = Date.parse(at);
  return accounts.map((account) => formatAccount(account, now).join("\n")).join("\n\n");
}

function formatAccount({ account, windows }: AccountStatus, now: number): string[] {
  const calendar = localCalendar();
  return [toPrintable(account), ...windows.map((window) => `  ${describeLimit(window, now, calendar)}`)];
}

/** Said where no limit is known. */
export const NOTHING_SEEN = [
  "No response has said anything of limits yet. tollkeeper does not ask for them: they come with the responses to your tools.",
];
