import { existsSync } from "node:fs";
import type { ServiceState } from "../service/service-manager.ts";
import { row } from "./status-report.ts";

/** The service's state, and whether what it names is there. */
export interface ServiceReport extends ServiceState {
  manager: string;
  /** null when it names none. */
  nodeExists: boolean | null;
  scriptExists: boolean | null;
  /** What the configuration says; null when it cannot be used, or takes any port. */
  configuredPort: number | null;
}

/** Adds to a state what the file system says of it. */
export function reportService(
  manager: string,
  state: ServiceState,
  configuredPort: number | null,
): ServiceReport {
  const nodeExists = state.node === null ? null : existsSync(state.node);
  const scriptExists = state.script === null ? null : existsSync(state.script);
  return { manager, ...state, nodeExists, scriptExists, configuredPort };
}

/** The report as people read it, one fact a line. */
export function renderService(report: ServiceReport): string[] {
  const { manager, isInstalled, isEnabled, isRunning, pid, detail, files } = report;
  if (!isInstalled) {
    return [row("service", `not installed (${manager}); install it with: tollkeeper service install`)];
  }
  return [
    row("service", `${isRunning ? `running, pid ${pid}` : "not running"}: ${detail}`),
    row("enabled", isEnabled ? "yes, it starts at login" : "no; enable it with: tollkeeper service install"),
    ...pathRow("node", report.node, report.nodeExists),
    ...pathRow("script", report.script, report.scriptExists),
    ...portRow(report),
    ...lingerRow(report.outlivesLogin),
    ...files.map((file, index) => row(index === 0 ? "files" : "", file)),
  ];
}

function pathRow(name: string, path: string | null, exists: boolean | null): string[] {
  if (path === null) return [];
  const trouble = "; it is not there any more, name today's with: tollkeeper service install";
  return [row(name, `${path}${exists === false ? trouble : ""}`)];
}

function portRow({ manager, port, holdsPort, configuredPort }: ServiceReport): string[] {
  if (port === null) return [];
  const isOther = configuredPort !== null && configuredPort !== port;
  const trouble = `; the configuration says ${configuredPort}, bring them together with: tollkeeper service install`;
  const listens = holdsPort ? `, where ${manager} listens for it` : "";
  return [row("port", `${port}${listens}${isOther ? trouble : ""}`)];
}

function lingerRow(outlivesLogin: boolean | null): string[] {
  if (outlivesLogin === null) return [];
  return [
    row("linger", outlivesLogin ? "yes, it runs without a login, too" : "no, it ends with your last session"),
  ];
}
