import { judgeHealth, type Health } from "../../../core/health.ts";
import type { DaemonStatus } from "../../../daemon/status.ts";
import type { Tone } from "../../terminal/styles.ts";
import { pluralize } from "../../terminal/format.ts";

/** What keeps the daemon from serving, in words. */
const PROBLEMS: Readonly<Record<Exclude<Health, "ok">, string>> = {
  starting: "the daemon is starting",
  stopping: "the daemon is stopping",
  configuration: "the configuration is not accepted",
  keys: "a key cannot be read",
  tokens: "the tokens cannot be read",
  ledger: "records are not written",
};

/** Says in a line what is wrong, so that a reader need not search the report. What follows says more of each. */
export function describeVerdict(
  status: Omit<DaemonStatus, "holds"> & { holds?: DaemonStatus["holds"] },
): [text: string, tone: Tone] {
  const health = judgeHealth(status);
  // A daemon of an earlier version sends no holds.
  const { budgets, pauses, upstreams, holds = [] } = status;
  const spent = budgets.filter(({ action, percent }) => action === "refuse" && percent >= 100).length;
  const waiting = new Set(holds.map(({ kind, name }) => `${kind} ${name}`)).size;
  const failing = upstreams.filter((one) => one.failing !== null).length;
  const unlisted = upstreams.filter((one) => one.modelsProblem !== null).length;
  const hints = [
    spent > 0 && `${pluralize(spent, "budget")} ${verb(spent, "refuses")}`,
    pauses.length > 0 && `${pluralize(pauses.length, "pause")} ${verb(pauses.length, "refuses")}`,
    waiting > 0 && `${pluralize(waiting, "brake")} ${verb(waiting, "waits")}`,
    failing > 0 && `${pluralize(failing, "upstream")} ${verb(failing, "fails")}`,
    unlisted > 0 && `${pluralize(unlisted, "upstream")} ${unlisted === 1 ? "has" : "have"} no list of models`,
  ].filter((one) => one !== false);
  if (health !== "ok") return [[PROBLEMS[health], ...hints].join(", "), "failure"];
  return hints.length === 0 ? ["everything works", "plain"] : [hints.join(", "), "warning"];
}

/** Returns `refuses` for one and `refuse` for several. */
function verb(count: number, singular: string): string {
  return count === 1 ? singular : singular.replace(/s$/, "");
}
