export { closeDays, ensureRollup, markDeleted, type ClosedDays } from "./closed-days/close-days.ts";
export { summariseDay, verifyRollup } from "./closed-days/summarise-day.ts";
