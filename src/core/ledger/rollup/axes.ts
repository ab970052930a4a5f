import { GROUPINGS, isTime, type Grouping, type TimeGrouping } from "../grouping.ts";

/** What a group of requests has a name for. `requested` is the model of the record, `model` that of the tokens. */
export type Axis = "requested" | Exclude<Grouping, TimeGrouping | "account" | "window">;

/** The names of groups, in their order, by kind. Details have all that a report can ask for. Who paid is told by the upstream and the key. */
export const ROLLUP_AXES: Readonly<Record<"rollup" | "details", readonly Axis[]>> = {
  rollup: ["tool", "requested", "upstream", "key", "route", "outcome", "model"],
  details: ["requested", ...GROUPINGS.filter(isAxis)],
};

function isAxis(grouping: Grouping): grouping is Exclude<Axis, "requested"> {
  return !isTime(grouping) && grouping !== "account" && grouping !== "window";
}
