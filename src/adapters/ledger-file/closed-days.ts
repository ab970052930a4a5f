export { closeDays, ensureRollup, type ClosedDays } from "./closed-days/close-days.ts";
export { findRollupProblem, summariseDay } from "./closed-days/summarise-day.ts";
