import type { AccountStatus } from "../../../core/limits/account-limits.ts";
import { describeHold } from "../../../core/limits/describe-limits.ts";
import { localCalendar } from "../../../core/ledger/calendar.ts";
import type { Answers } from "../../../daemon/control/answer-shapes.ts";
import { askRunning } from "../../../daemon/running-daemon.ts";
import { attempt } from "../../attempt.ts";
import { loadConfig } from "../../load-config.ts";
import { messageOf } from "../../../core/failure.ts";
import { formatLimits, type ShownLimits } from "../../limits/format-limits.ts";
import { listMovers, type MovedAccount } from "./movers.ts";
import { reportOptions, type Command, type ReportArguments } from "../../command.ts";
import { explainAbsence } from "../../service/explain-absence.ts";
import { hasColours, note, printJson, printStyled } from "../../terminal/console.ts";
import { layOutProse, printProse } from "../../terminal/prose.ts";
import { inTone } from "../../terminal/styles.ts";

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
      const view = { width: process.stdout.columns || Infinity, isColoured: hasColours() };
      printStyled(formatLimits(accounts.map(toShown), Date.parse(status.at), view));
      printHolds(status);
      note(accounts.some(isMoved) ? `${OTHERS_COUNT} ${CORRELATION}` : OTHERS_COUNT);
    }
    if (failure !== null) note(`It is not known who used the windows: ${messageOf(failure)}`);
  },
};

/** A daemon of an earlier version sends none. */
function printHolds({ holds, at }: Omit<Answers["limits"], "holds"> & Partial<Answers["limits"]>): void {
  for (const hold of holds ?? []) {
    const sentence = describeHold(hold, Date.parse(at), localCalendar());
    printStyled("");
    for (const line of layOutProse([sentence], process.stdout.columns || Infinity).split("\n"))
      printStyled(inTone(line, "warning", hasColours()));
    printProse([`To let it pass, type: ${hold.lift}`]);
  }
}

/** Said below limits. */
export const OTHERS_COUNT = "Other devices and programs with the same account count, too.";

/** Said where shares are shown. */
const CORRELATION =
  "The shares are of the tokens that passed tollkeeper since a window began; the service may count in another way.";

function withoutMovers({ account, windows }: AccountStatus): MovedAccount {
  return { account, windows: windows.map((window) => ({ ...window, movedBy: null })) };
}

function isMoved({ windows }: MovedAccount): boolean {
  return windows.some(({ movedBy }) => movedBy !== null);
}

function toShown({ account, windows }: MovedAccount): ShownLimits {
  const shown = windows.map(({ movedBy, ...window }) => ({ ...window, below: listMovers(movedBy) }));
  return { account, windows: shown };
}

/** Said where no limit is known. */
export const NOTHING_SEEN = [
  "No response has said anything of limits yet. tollkeeper does not ask for them: they come with the responses to your tools.",
];
