import { existsSync } from "node:fs";
import type { Config } from "../../core/config/config.ts";
import type { ServiceProblem, ServiceState } from "../../service/service-manager.ts";
import type { Diagnosis } from "./diagnose.ts";
import { labelledLine } from "../terminal/format.ts";

/** The service's state, compared with the file system and the configuration. */
export interface ServiceReport extends ServiceState {
  manager: string;
  /** null when the definition names none. */
  nodeExists: boolean | null;
  scriptExists: boolean | null;
  /** null when the configuration is unusable or takes any port. */
  configuredPort: number | null;
  /** In milliseconds; null when the configuration is unusable. */
  configuredDrainMs: number | null;
  /** What is wrong with the definition, even while the service runs. */
  problems: ServiceProblem[];
  /** Why it does not start, and what to type; null when nothing is known to be wrong. */
  diagnosis: Diagnosis | null;
}

/** Compares a state with the file system and the configuration, which is null when it is unusable. */
export function buildServiceReport(
  manager: string,
  state: ServiceState,
  config: Config | null,
  { problems, diagnosis }: Pick<ServiceReport, "problems" | "diagnosis">,
): ServiceReport {
  const port = config?.listen.port ?? 0;
  return {
    manager,
    ...state,
    nodeExists: state.node === null ? null : existsSync(state.node),
    scriptExists: state.script === null ? null : existsSync(state.script),
    configuredPort: port === 0 ? null : port,
    configuredDrainMs: config?.limits.drainMs ?? null,
    problems,
    diagnosis,
  };
}

/** True when the definition, older than the configuration, allows open streams less time. */
export function isDrainShortened({ drainMs, configuredDrainMs }: ServiceReport): boolean {
  return drainMs !== null && configuredDrainMs !== null && drainMs < configuredDrainMs;
}

type Fact = [label: string, text: string];

/** Renders the report as text, one fact a line. */
export function renderServiceReport(report: ServiceReport): string[] {
  const { manager, isInstalled, isEnabled, isRunning, pid, detail, files } = report;
  if (!isInstalled) {
    const text = `not installed (${manager}); install it with: tollkeeper service install`;
    return [labelledLine("service", text)];
  }
  const facts: Fact[] = [
    ["service", `${isRunning ? `running, pid ${pid}` : "not running"}: ${detail}`],
    ...diagnosisFacts(report),
    ...problemFacts(report),
    ["enabled", isEnabled ? "yes, it starts at login" : "no; enable it with: tollkeeper service install"],
    ...pathFacts("node", report.node, report.nodeExists),
    ...pathFacts("script", report.script, report.scriptExists),
    ...portFacts(report),
    ...drainFacts(report),
    ...lingerFacts(report),
    ...files.map((file, index): Fact => [index === 0 ? "files" : "", file]),
  ];
  return facts.map(([label, text]) => labelledLine(label, text));
}

/** What to type is on a line of its own. */
function diagnosisFacts({ isRunning, hasFailed, diagnosis }: ServiceReport): Fact[] {
  if (isRunning) return [];
  if (diagnosis !== null) {
    return [
      ["why", diagnosis.message],
      ["", diagnosis.fix],
    ];
  }
  const more = hasFailed ? "; see its log with: tollkeeper service logs" : "";
  return [["", `start it with: tollkeeper service start${more}`]];
}

/** What keeps a stopped service from starting is its diagnosis. */
function problemFacts({ isRunning, problems }: ServiceReport): Fact[] {
  return problems
    .filter(({ preventsStart }) => isRunning || !preventsStart)
    .flatMap(({ message, fix }): Fact[] => [
      ["problem", message],
      ["", fix],
    ]);
}

function pathFacts(label: string, path: string | null, exists: boolean | null): Fact[] {
  if (path === null) return [];
  const problem = "; it no longer exists; update it with: tollkeeper service install";
  return [[label, `${path}${exists === false ? problem : ""}`]];
}

function portFacts({ manager, port, holdsPort, configuredPort }: ServiceReport): Fact[] {
  if (port === null) return [];
  const isOther = configuredPort !== null && configuredPort !== port;
  const listens = holdsPort ? `, where ${manager} listens for it` : "";
  return [["port", `${port}${listens}${isOther ? mismatch(configuredPort) : ""}`]];
}

function drainFacts(report: ServiceReport): Fact[] {
  const { drainMs, configuredDrainMs } = report;
  if (drainMs === null) return [];
  const problem = isDrainShortened(report) ? mismatch(`${Number(configuredDrainMs) / 1000} s`) : "";
  return [["drain", `open streams get ${drainMs / 1000} s to finish at a stop${problem}`]];
}

function lingerFacts({ outlivesLogin }: ServiceReport): Fact[] {
  if (outlivesLogin === null) return [];
  const text = outlivesLogin
    ? "yes, it also runs without a login"
    : "no, it stops when your last session ends";
  return [["linger", text]];
}

function mismatch(configured: number | string): string {
  return `; the configuration has ${configured}; update the service with: tollkeeper service install`;
}
