import { ANSWERS } from "./e-answers.ts";
import { CAPTURED } from "./e-captures.ts";
import { CONTENT } from "./e-content.ts";
import { CRASH } from "./e-crash.ts";
import { DISK } from "./e-disk.ts";
import { LEDGER } from "./e-ledger.ts";
import { QUESTIONS } from "./e-questions.ts";
import { TRUST } from "./e-trust.ts";
import { USAGE } from "./e-usage.ts";
import type { Mutant } from "./mutant.ts";

export const E: readonly Mutant[] = [
  ...DISK,
  ...LEDGER,
  ...CONTENT,
  ...CRASH,
  ...TRUST,
  ...ANSWERS,
  ...QUESTIONS,
  ...CAPTURED,
  ...USAGE,
];
