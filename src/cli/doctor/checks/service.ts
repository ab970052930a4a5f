import { isDrainShortened, buildServiceReport, type ServiceReport } from "../../service/report.ts";
import type { Evidence } from "../evidence.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "../../../check/check.ts";
import { commandFor, startCommand } from "../fix-commands.ts";

/** Checks that the daemon is installed as a service, starts by itself, and that its definition is up to date. */
export const serviceCheck: Check<Evidence> = {
  id: "service",
  title: "service",
  async run(evidence) {
    const { state, managerName, failure: absence, cause } = await evidence.service();
    if (state === null) return [{ ...skipped(absence?.message ?? "unknown"), fix: absence?.hint ?? null }];
    const report = buildServiceReport(managerName, state, await evidence.config(), cause);
    const install = commandFor(evidence, "service install");
    if (!report.isInstalled) {
      return [warning("it is not installed: after a logout or a crash nobody starts the daemon", install)];
    }
    const findings = [
      ...programFindings(report, install),
      ...portFindings(report, install),
      ...drainFindings(report, install),
      ...(report.isEnabled ? [] : [warning("it does not start at login", install)]),
    ];
    if (findings.length === 0) findings.push(...(await runFindings(report, evidence)));
    return findings.length > 0 ? findings : [ok(describe(report))];
  },
};

/** An upgrade of Node or of a version manager may have removed the paths that the definition names. */
function programFindings(report: ServiceReport, install: string): Finding[] {
  const { node, nodeExists, script, scriptExists } = report;
  const findings: Finding[] = [];
  if (nodeExists === false) findings.push(failure(`its Node, ${node}, is not there any more`, install));
  if (scriptExists === false)
    findings.push(failure(`its program, ${script}, is not there any more`, install));
  return findings;
}

function portFindings({ port, configuredPort }: ServiceReport, install: string): Finding[] {
  if (port === null || configuredPort === null || port === configuredPort) return [];
  return [failure(`its socket is for port ${port}, and the configuration says ${configuredPort}`, install)];
}

function drainFindings(report: ServiceReport, install: string): Finding[] {
  if (!isDrainShortened(report)) return [];
  const { manager, drainMs, configuredDrainMs } = report;
  const [given, configured] = [drainMs, configuredDrainMs].map((ms) => `${Number(ms) / 1000} s`);
  const what = `${manager} gives open streams ${given} at a stop, and the configuration says ${configured}`;
  return [warning(what, install)];
}

async function runFindings(
  { isRunning, holdsPort, detail, cause }: ServiceReport,
  evidence: Evidence,
): Promise<Finding[]> {
  // A daemon that the manager starts on demand is the daemon check's concern.
  if (isRunning || holdsPort) return [];
  const { status } = await evidence.daemon();
  if (status !== null) {
    const fix = "tollkeeper service stop, then: tollkeeper service start";
    return [warning(`it does not run (${detail}): the daemon, pid ${status.pid}, was started by hand`, fix)];
  }
  const why = cause === null ? "" : `: ${cause.what}`;
  return [failure(`it does not run (${detail})${why}`, await startCommand(evidence))];
}

function describe({ outlivesLogin, detail }: ServiceReport): string {
  if (outlivesLogin === null) return `installed, starts at login; ${detail}`;
  const when = outlivesLogin ? "starts with the machine" : "starts at login and ends with it";
  return `installed, ${when}; ${detail}`;
}
