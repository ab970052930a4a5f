import { existsSync } from "node:fs";
import { formatAge } from "../../../core/text/age.ts";
import { formatProblem } from "../../../core/config/problem.ts";
import type { DaemonStatus, KeyStatus } from "../../../daemon/status.ts";
import type { Evidence } from "../evidence.ts";
import { failure, ok, warning, type Check, type Finding } from "../../../check/check.ts";
import { localCalendar } from "../../../core/ledger/calendar.ts";
import { describeHold } from "../../../core/limits/describe-limits.ts";
import { describeScope, resumeCommand } from "../../../core/policy/pauses.ts";
import { describeExpiry } from "../../../core/secrets/describe-expiry.ts";
import { nameBudget } from "../../budget/format-budgets.ts";
import { displayPath, pluralize } from "../../terminal/format.ts";
import type { KeyReading } from "../evidence/read-keys.ts";
import { commandFor, logsCommand, startCommand, useConfigurationCommand } from "../fix-commands.ts";

const NO_TOKENS =
  "tollkeeper connect TOOL; for a program that connect does not know: tollkeeper token add NAME";

/** An older error that has not recurred is not reported. */
const RECENT_MS = 24 * 60 * 60 * 1000;

/** Checks that a daemon runs and reports no problem. */
export const daemonCheck: Check<Evidence> = {
  id: "daemon",
  title: "daemon",
  async run(evidence) {
    const { status, failure: problem } = await evidence.daemon();
    if (problem !== null) return [failure(problem.message, problem.hint ?? "tollkeeper service logs")];
    if (status === null) return [await absenceFinding(evidence)];
    const logs = await logsCommand(evidence);
    const findings = [
      ...(await configFindings(status, evidence)),
      ...(await Promise.all(status.keys.map((key) => keyFindings(key, evidence, logs)))).flat(),
      ...accessFindings(status),
      ...pauseFindings(status, evidence.now()),
      ...budgetFindings(status),
      ...holdFindings(status, evidence.now()),
      ...(await ledgerFindings(status, evidence)),
    ];
    if (findings.length === 0) findings.push(...errorFindings(status, evidence.now(), logs));
    const age = formatAge(Date.parse(status.startedAt), evidence.now());
    return findings.length > 0
      ? findings
      : [ok(`running, pid ${status.pid}, started ${age}${describeExpiries(status, evidence.now())}`)];
  },
};

async function absenceFinding(evidence: Evidence): Promise<Finding> {
  const { state, diagnosis } = await evidence.service();
  if (state?.isRunning === true) {
    const what = `running, pid ${state.pid}, but its control socket is gone; the daemon recreates it within seconds`;
    return warning(what, "check again with: tollkeeper doctor");
  }
  const start = await startCommand(evidence);
  if (state?.holdsPort === true && diagnosis === null) {
    return warning("it is not running; the first connection starts it", start);
  }
  const why = diagnosis === null ? "" : ` (${state?.detail ?? ""}): ${diagnosis.message}`;
  return failure(`it is not running${why}`, start);
}

async function configFindings({ config }: DaemonStatus, evidence: Evidence): Promise<Finding[]> {
  const path = displayPath(config.path, evidence.home);
  if (config.path !== evidence.configFile) {
    const what = `it was started with another configuration, ${path}`;
    return [warning(what, await useConfigurationCommand(evidence))];
  }
  if (config.problems.length === 0) return [];
  const [what, edit] = ["it still uses the previous configuration", commandFor(evidence, "config edit")];
  // When the file is still invalid, the configuration check lists its problems.
  const reading = await evidence.configReading();
  if (!reading.ok) return [failure(what, reading.problems[0]?.hint ?? edit)];
  return config.problems.map(({ hint, ...problem }) =>
    failure(`${what}: ${formatProblem(path, problem)}`, hint ?? edit),
  );
}

/** Reports keys by the state the daemon sees: it may lack access that this terminal session has. */
async function keyFindings(key: KeyStatus, evidence: Evidence, logs: string | null): Promise<Finding[]> {
  const { name, upstream, state, problem } = key;
  if (state === "present" && key.refreshFailure !== null)
    return [refreshFinding(key, key.refreshFailure, evidence)];
  if (state === "present" || state === "not_asked") return [];
  const what = `it cannot read key "${name}" of upstream ${upstream}: ${problem ?? state}`;
  const row = await findRowWithFix(key, evidence);
  const elsewhere = "this terminal can read it; have the daemon read it again with: tollkeeper key test";
  const fix = row === null ? elsewhere : `follow the fix under "${row}" above`;
  return [failure(what, logs === null ? fix : `${fix}, or see: ${logs}`)];
}

/** Reports a key that still serves, and that could not be refreshed before it expires. */
function refreshFinding(
  key: KeyStatus,
  { at, problem }: { at: string; problem: string },
  evidence: Evidence,
): Finding {
  const age = formatAge(Date.parse(at), evidence.now());
  const what = `it could not refresh ${nameWithExpiry(key, evidence.now())}, ${age}: ${problem}`;
  return warning(what, commandFor(evidence, "key test"));
}

function nameWithExpiry({ name, upstream, expiresAt }: KeyStatus, now: number): string {
  const expiry =
    expiresAt === null ? "" : `, which ${describeExpiry(Date.parse(expiresAt), now, localCalendar())}`;
  return `key "${name}" of upstream ${upstream}${expiry}`;
}

/** Lists the keys of which it is known when they expire. */
function describeExpiries({ keys }: DaemonStatus, now: number): string {
  return keys
    .flatMap((key) => (key.expiresAt === null ? [] : [`; uses ${nameWithExpiry(key, now)}`]))
    .join("");
}

/** Returns which row above says how to make a key readable; null if this terminal can read it. */
async function findRowWithFix(
  { name, upstream }: KeyStatus,
  evidence: Evidence,
): Promise<"keys" | "keychain" | null> {
  const isThis = ({ ref, upstream: { name: its } }: KeyReading) => ref.name === name && its === upstream;
  const reading = (await evidence.keys()).find(isThis);
  if (reading?.secret != null) return null;
  // A key in a keychain that fails is skipped under "keys".
  const isSkipped = reading?.ref.source.kind === "keychain" && reading.skipReason !== null;
  return isSkipped && (await evidence.keychainFailure()) !== null ? "keychain" : "keys";
}

/** In token mode no tool works without a token; in open mode tokens only identify tools. */
function accessFindings({ access: { mode, tokens } }: DaemonStatus): Finding[] {
  const { problem, registered, leased } = tokens;
  if (problem !== null) {
    const finding = mode === "token" ? failure : warning;
    return [finding(problem.message, problem.hint ?? "tollkeeper token list")];
  }
  if (mode === "open" || registered + leased > 0) return [];
  return [failure("local tokens are required, and none is registered", NO_TOKENS)];
}

function pauseFindings({ pauses }: DaemonStatus, now: number): Finding[] {
  return pauses.map((pause) => {
    const age = formatAge(Date.parse(pause.since), now);
    return warning(`${describeScope(pause)} was paused ${age}`, resumeCommand(pause));
  });
}

function budgetFindings({ budgets }: DaemonStatus): Finding[] {
  const spent = budgets.filter(({ action, percent }) => action === "refuse" && percent >= 100);
  return spent.map((budget) =>
    warning(`a budget is spent, and requests are refused: ${nameBudget(budget)}`, "tollkeeper budget"),
  );
}

/** A daemon of an earlier version sends none. */
function holdFindings({ holds }: { holds?: DaemonStatus["holds"] }, now: number): Finding[] {
  return (holds ?? []).map((hold) => warning(describeHold(hold, now, localCalendar()), hold.lift));
}

async function ledgerFindings({ ledger, pid }: DaemonStatus, evidence: Evidence): Promise<Finding[]> {
  const { directory, waiting, lost, lastError } = ledger;
  const why = lastError === null ? "" : ` (${lastError})`;
  const findings: Finding[] = [];
  if (waiting > 0) {
    const { state } = await evidence.service();
    // The sandbox of the service holds the directories that were there at its start.
    const isMoved = state?.pid === pid && !existsSync(directory);
    const fix = isMoved
      ? `recreate it with: tollkeeper service install; or move ${directory} back`
      : 'follow the fix under "ledger" below; they are then written automatically';
    findings.push(failure(`${pluralize(waiting, "record")} not yet written${why}`, fix));
  }
  if (lost > 0) {
    const what = `${pluralize(lost, "record")} lost since its start${why}`;
    findings.push(warning(what, 'follow the fix under "ledger" below; lost records cannot be recovered'));
  }
  return findings;
}

function errorFindings({ lastError }: DaemonStatus, now: number, logs: string | null): Finding[] {
  if (lastError === null || now - Date.parse(lastError.at) > RECENT_MS) return [];
  const age = formatAge(Date.parse(lastError.at), now);
  const fix = logs ?? "read what is around it in the terminal in which the daemon was started";
  return [warning(`last error, ${age}: ${lastError.message}`, fix)];
}
