import type { UsageRecord } from "../../../../core/ledger/record.ts";
import { isRefused } from "../../../../core/ledger/spend.ts";
import type { RefusalCode } from "../../../../core/refusals/refusal.ts";
import { toPrintable } from "../../../../core/text/printable.ts";
import { formatCommand } from "../../../../core/text/shell-words.ts";

/** What a refusal means, and what to type next. A record has only its code. */
interface RefusalWords {
  code: string;
  /** Why, in words. */
  reason: string;
  command: string;
}

type Asked = Pick<UsageRecord, "tool" | "upstream" | "model_requested">;
type Command = (asked: Asked) => readonly string[];

const DOCTOR: Command = () => ["doctor"];
const STATUS: Command = () => ["status"];
const BUDGET: Command = () => ["budget"];
const ROUTE: Command = ({ tool, model_requested: model }) =>
  model === null ? ["group"] : ["route", toPrintable(model), "--tool", tool];

/** Those that a request can get once its upstream is known (docs/refusals.md). */
const REFUSALS: Partial<Record<RefusalCode, readonly [reason: string, command: Command]>> = {
  key_missing: [
    "no key was stored for the upstream",
    ({ upstream }) => ["key", "set", "--upstream", upstream],
  ],
  key_locked: ["the keychain was locked, or it denied access to tollkeeper", DOCTOR],
  key_unavailable: ["the key could not be read, or others could read it, too", DOCTOR],
  key_unresponsive: ["the place where the key is stored did not respond in time", DOCTOR],
  token_required: [
    "a local token is required, and the tool sent none that is registered",
    ({ tool }) => ["connect", tool],
  ],
  model_not_found: ["no upstream of the tool served the model", ROUTE],
  model_not_allowed: ["the tool's group did not allow the model", ROUTE],
  model_unreadable: ["the model could not be read from the request", () => ["route", "--help"]],
  storage_not_allowed: [
    "a group or a budget limits the tool, so it may not use stored files or batches",
    () => ["group"],
  ],
  paused: ["a person had paused the tool, its group or everything", STATUS],
  braked: ["requests came too fast, or repeated, for a brake", () => ["brake"]],
  limit_kept: ["a brake kept what was left of a service's limit", () => ["limits"]],
  budget_spent: ["a budget was spent, or reserved for running requests", BUDGET],
  budget_unknown: ["the request has a budget, and the ledger could not be counted", DOCTOR],
  plan_off: ["plans were off for this tool", ({ tool }) => ["connect", tool, "--account", "plan"]],
  plan_login: ["the login was not the one that the address takes", DOCTOR],
  plan_throttled: ["a brake or a budget stopped a request that a plan pays", BUDGET],
  bad_request: ["its headers or its framing could be read in two ways", () => ["check"]],
  body_timeout: ["its body stopped arriving", STATUS],
  body_too_large: ["its body was too large", () => ["config", "edit"]],
  buffer_full: ["too much was waiting in memory", STATUS],
  internal: ["tollkeeper itself failed", () => ["service", "logs"]],
  upstream_misconfigured: ["its address, certificate or proxy was wrong", DOCTOR],
  upstream_unreachable: ["no connection to it could be made", DOCTOR],
  upstream_invalid: ["its response was not valid HTTP", DOCTOR],
  upstream_timeout: ["it did not respond in time", STATUS],
  loop_detected: ["the address is that of tollkeeper itself", () => ["config", "edit"]],
};

/** Returns why a request got a response of tollkeeper's own; null for one that an upstream responded to. */
export function describeRefused(record: UsageRecord): RefusalWords | null {
  const { outcome, error_type: type } = record;
  if (outcome !== "rejected") return null;
  const known = Object.hasOwn(REFUSALS, type ?? "") ? REFUSALS[type as RefusalCode] : undefined;
  const [reason, command] = known ?? ["it broke a rule that docs/refusals.md names", DOCTOR];
  return {
    code: toPrintable(type ?? "unknown"),
    reason,
    command: formatCommand(["tollkeeper", ...command(record)]),
  };
}

/** With these, a part of the request may have left. */
const MAY_HAVE_LEFT: ReadonlySet<string> = new Set<RefusalCode>([
  "body_timeout",
  "body_too_large",
  "buffer_full",
  "internal",
]);

/** True for a request that tollkeeper refused before it sent anything: not for one that an upstream's fault, or its own body, ended. */
export function wentNowhere(record: UsageRecord): boolean {
  return isRefused(record) && !MAY_HAVE_LEFT.has(record.error_type ?? "");
}
