export { closeDays, keepSums, markDeleted, type ClosedDays } from "./closed-days/close-days.ts";
export { detailDay, summariseDay, verifyRollup } from "./closed-days/summarise-day.ts";
export { parseDetails, readDetails } from "./closed-days/details-file.ts";
export {
  deleteMonthOf,
  listMonths,
  makeMonth,
  readMonth,
  verifyMonth,
  wholeMonth,
} from "./closed-days/month-file.ts";
