import { describeAge } from "../../core/text/age.ts";
import { writeProblem } from "../../core/config/problem.ts";
import type { DaemonStatus, KeyStatus } from "../commands/status/report.ts";
import type { Evidence } from "./evidence.ts";
import { failure, ok, warning, type Check, type Finding } from "./finding.ts";
import { commandFor, logsCommand, restartCommand, shorten, startCommand } from "../hints.ts";

/** What went wrong before that, and has not since, is over. */
const RECENT_MS = 24 * 60 * 60 * 1000;

/** Does a daemon run, and is it well? */
export const daemonCheck: Check = {
  id: "daemon",
  title: "daemon",
  async look(evidence) {
    const { status, failure: trouble } = await evidence.daemon();
    if (trouble !== null) return [failure(trouble.message, trouble.hint ?? "tollkeeper service logs")];
    if (status === null) return [await judgeAbsence(evidence)];
    const logs = await logsCommand(evidence);
    const findings = [
      ...(await configFindings(status, evidence)),
      ...status.keys.flatMap((key) => keyFindings(key, logs)),
      ...accessFindings(status),
      ...ledgerFindings(status),
    ];
    if (findings.length === 0) findings.push(...errorFindings(status, evidence.now(), logs));
    const age = describeAge(Date.parse(status.startedAt), evidence.now());
    return findings.length > 0 ? findings : [ok(`it runs, pid ${status.pid}, started ${age}`)];
  },
};

async function judgeAbsence(evidence: Evidence): Promise<Finding> {
  const start = await startCommand(evidence);
  const { state } = await evidence.service();
  if (state?.holdsPort === true) return warning("it is not running; the first connection starts it", start);
  return failure("it is not running", start);
}

async function configFindings({ config }: DaemonStatus, evidence: Evidence): Promise<Finding[]> {
  const path = shorten(config.path, evidence.home);
  if (config.path !== evidence.configFile) {
    const what = `it was started with another configuration, ${path}`;
    return [warning(what, await restartCommand(evidence))];
  }
  if (config.problems.length === 0) return [];
  const [what, edit] = ["it runs on with the configuration from before", commandFor(evidence, "config edit")];
  // Then they are told already.
  if (!(await evidence.reading()).ok) return [failure(what, edit)];
  return config.problems.map((problem) => failure(`${what}: ${writeProblem(path, problem)}`, edit));
}

/** The daemon may have less of a session than this terminal: what it finds itself is what counts. */
function keyFindings({ name, upstream, state, problem }: KeyStatus, logs: string): Finding[] {
  if (state === "present" || state === "not asked yet") return [];
  const what = `it has no key "${name}" for upstream ${upstream}: ${problem ?? state}`;
  return [failure(what, `mend what the keys above say, or see: ${logs}`)];
}

/** Without a token to show, no tool gets anywhere; where none is asked for, tokens only name tools. */
function accessFindings({ access: { mode, tokens } }: DaemonStatus): Finding[] {
  const { problem, registered, lent } = tokens;
  if (problem !== null) {
    const tell = mode === "token" ? failure : warning;
    return [tell(problem.message, problem.hint ?? "tollkeeper token list")];
  }
  if (mode === "open" || registered + lent > 0) return [];
  return [failure("it asks for a local token, and none is registered", "tollkeeper token add TOOL")];
}

function ledgerFindings({ ledger: { waiting, lost, lastError } }: DaemonStatus): Finding[] {
  const why = lastError === null ? "" : ` (${lastError})`;
  const findings: Finding[] = [];
  if (waiting > 0) {
    const what = `records that wait to be written: ${waiting}${why}`;
    findings.push(failure(what, "mend what the ledger below says; they are written by themselves then"));
  }
  if (lost > 0) {
    const what = `records lost since its start: ${lost}${why}`;
    findings.push(warning(what, "mend what the ledger below says; what is lost is lost"));
  }
  return findings;
}

function errorFindings({ lastError }: DaemonStatus, now: number, logs: string): Finding[] {
  if (lastError === null || now - Date.parse(lastError.at) > RECENT_MS) return [];
  const age = describeAge(Date.parse(lastError.at), now);
  return [warning(`what last went wrong, ${age}: ${lastError.message}`, logs)];
}
