export { closeDays, ensureRollup, markDeleted, type ClosedDays } from "./closed-days/close-days.ts";
export { findRollupProblem, summariseDay } from "./closed-days/summarise-day.ts";
