import { ANSWER_CHECKS } from "./answers.ts";
import type { Check } from "./check.ts";
import { CREDENTIAL_CHECKS } from "./credentials.ts";
import { RECORD_CHECKS } from "./records.ts";
import { REFUSAL_CHECKS } from "./refusals.ts";
import { REQUEST_CHECKS } from "./requests.ts";
import { STREAM_CHECKS } from "./streams.ts";

/** What tollkeeper promises, in the order in which it is shown. */
export const INSTALLATION_CHECKS: readonly Check[] = [
  ...REQUEST_CHECKS,
  ...CREDENTIAL_CHECKS,
  ...ANSWER_CHECKS,
  ...STREAM_CHECKS,
  ...REFUSAL_CHECKS,
  ...RECORD_CHECKS,
];
