import { isDrainShortened, buildServiceReport, type ServiceReport } from "../../service/report.ts";
import type { Evidence } from "../evidence.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "../../../check/check.ts";
import { displayPath } from "../../terminal/format.ts";
import { commandFor, useConfigurationCommand } from "../fix-commands.ts";

/** Keeps the configuration that the service was installed with. */
const INSTALL = "tollkeeper service install";

/** Checks that the daemon is installed as a service, starts by itself, and that its definition is up to date. */
export const serviceCheck: Check<Evidence> = {
  id: "service",
  title: "service",
  async run(evidence) {
    const { state, managerName, failure: absence, problems, diagnosis } = await evidence.service();
    if (state === null) {
      // A daemon that was started by hand needs no command, and the hint would start a second one.
      const fix = (await evidence.daemon()).status === null ? (absence?.hint ?? null) : null;
      return [{ ...skipped(absence?.message ?? "unknown"), fix }];
    }
    if (!state.isInstalled) {
      const what = "not installed: nothing restarts the daemon after a logout or a crash";
      return [warning(what, commandFor(evidence, "service install"))];
    }
    const found = { problems, diagnosis };
    const report = buildServiceReport(managerName, state, await evidence.config(), found);
    const findings = [
      ...(await runFindings(report, evidence)),
      ...problemFindings(report),
      ...(await configurationFindings(report, evidence)),
      ...(report.isEnabled ? [] : [warning("it does not start at login", INSTALL)]),
    ];
    if (findings.length > 0) return findings;
    const isDown = !report.isRunning && !report.holdsPort;
    return [isDown ? skipped('installed, and not running: see "daemon"') : ok(describe(report))];
  },
};

async function runFindings({ isRunning, detail }: ServiceReport, evidence: Evidence): Promise<Finding[]> {
  if (isRunning) return [];
  const { status } = await evidence.daemon();
  if (status !== null) {
    const fix = "tollkeeper service stop, then: tollkeeper service start";
    return [
      warning(`it is not running (${detail}): the daemon, pid ${status.pid}, was started by hand`, fix),
    ];
  }
  // That the daemon does not run, why, and what to type is the daemon check's concern.
  return [];
}

/** What keeps the service from starting is told with the service that does not run. */
function problemFindings({ isRunning, problems }: ServiceReport): Finding[] {
  return problems
    .filter(({ preventsStart }) => isRunning || !preventsStart)
    .map(({ message, preventsStart, fix }) => {
      return warning(preventsStart ? `it will not start again: ${message}` : message, fix);
    });
}

/** Compares the definition with the configuration under examination, unless the service has another one. */
async function configurationFindings(report: ServiceReport, evidence: Evidence): Promise<Finding[]> {
  const { configFile } = report;
  if (configFile === null || configFile === evidence.configFile) {
    return [...portFindings(report), ...drainFindings(report)];
  }
  if (report.isRunning) return [];
  const what = `it was installed with another configuration, ${displayPath(configFile, evidence.home)}`;
  return [warning(what, await useConfigurationCommand(evidence))];
}

function portFindings({ port, configuredPort }: ServiceReport): Finding[] {
  if (port === null || configuredPort === null || port === configuredPort) return [];
  return [failure(`its socket has port ${port}, but the configuration has port ${configuredPort}`, INSTALL)];
}

function drainFindings(report: ServiceReport): Finding[] {
  if (!isDrainShortened(report)) return [];
  const { manager, drainMs, configuredDrainMs } = report;
  const [given, configured] = [drainMs, configuredDrainMs].map((ms) => `${Number(ms) / 1000} s`);
  const what = `${manager} gives open streams ${given} to finish at a stop, but the configuration says ${configured}`;
  return [warning(what, INSTALL)];
}

function describe({ outlivesLogin, detail }: ServiceReport): string {
  if (outlivesLogin === null) return `installed, starts at login; ${detail}`;
  const when = outlivesLogin ? "starts at boot" : "starts at login and stops at logout";
  return `installed, ${when}; ${detail}`;
}
