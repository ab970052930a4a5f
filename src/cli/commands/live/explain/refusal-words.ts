import { formatConfigPath } from "../../../../core/config/problem.ts";
import { configuredName } from "../../../../core/plans/names.ts";
import { USUAL_REFUSALS } from "../../../../core/ledger/explain/record-words.ts";
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

/** Why, for the codes that a request can get once its upstream is known (docs/refusals.md). */
const REASONS = {
  ...USUAL_REFUSALS,
  key_missing: "no key was stored for the upstream",
  key_locked: "the keychain was locked, or it denied access to tollkeeper",
  key_unavailable: "the key could not be read, or others could read it, too",
  key_unresponsive: "the place where the key is stored did not respond in time",
  token_required: "a local token is required, and the tool sent none that is registered",
  model_not_found: "no upstream of the tool served the model",
  model_unreadable: "the model could not be read from the request",
  plan_off: "plans were off for this tool",
  plan_login: "the login was not the one that the address takes",
  client_key: "it had no key of the tool's own that could pass",
  bad_request: "its headers or its framing could be read in two ways",
  body_timeout: "its body stopped arriving",
  body_too_large: "its body was too large",
  buffer_full: "too much was waiting in memory",
  internal: "tollkeeper itself failed",
  upstream_misconfigured: "its address, certificate or proxy was wrong",
  upstream_invalid: "its response was not valid HTTP",
  loop_detected: "the address is that of tollkeeper itself",
} as const;

/** What to type next. */
const COMMANDS: Readonly<Record<keyof typeof REASONS, Command>> = {
  key_missing: ({ upstream }) => ["key", "set", "--upstream", upstream],
  key_locked: DOCTOR,
  key_unavailable: DOCTOR,
  key_unresponsive: DOCTOR,
  token_required: ({ tool }) => ["connect", tool],
  model_not_found: ROUTE,
  model_not_allowed: ROUTE,
  model_unreadable: () => ["route", "--help"],
  storage_not_allowed: () => ["group"],
  paused: STATUS,
  braked: () => ["brake"],
  limit_kept: () => ["limits"],
  budget_spent: BUDGET,
  budget_unknown: DOCTOR,
  plan_off: ({ tool }) => ["connect", tool, "--account", "plan"],
  plan_login: DOCTOR,
  plan_throttled: BUDGET,
  client_key: ({ upstream }) => [
    "config",
    "unset",
    formatConfigPath(["upstreams", configuredName(upstream), "credential"]),
  ],
  bad_request: () => ["check"],
  body_timeout: STATUS,
  body_too_large: () => ["config", "edit"],
  buffer_full: STATUS,
  internal: () => ["service", "logs"],
  upstream_misconfigured: DOCTOR,
  upstream_unreachable: DOCTOR,
  upstream_invalid: DOCTOR,
  upstream_timeout: STATUS,
  loop_detected: () => ["config", "edit"],
} satisfies Partial<Record<RefusalCode, Command>>;

/** Returns why a request got a response of tollkeeper's own; null for one that an upstream responded to. */
export function describeRefused(record: UsageRecord): RefusalWords | null {
  const { outcome, error_type: type } = record;
  if (outcome !== "rejected") return null;
  const known = type !== null && isKnown(type) ? type : null;
  const command = known === null ? DOCTOR : COMMANDS[known];
  return {
    code: toPrintable(type ?? "unknown"),
    reason: known === null ? "it broke a rule that docs/refusals.md names" : REASONS[known],
    command: formatCommand(["tollkeeper", ...command(record)]),
  };
}

function isKnown(code: string): code is keyof typeof REASONS {
  return Object.hasOwn(REASONS, code);
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
