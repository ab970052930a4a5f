import { existsSync } from "node:fs";
import type { Config } from "../../core/config/config.ts";
import type { ServiceState } from "../../service/service-manager.ts";
import type { Cause } from "./causes.ts";
import { row } from "../commands/status/report.ts";

/** The service's state, and whether what it names is there. */
export interface ServiceReport extends ServiceState {
  manager: string;
  /** null when it names none. */
  nodeExists: boolean | null;
  scriptExists: boolean | null;
  /** What the configuration says; null when it cannot be used, or takes any port. */
  configuredPort: number | null;
  /** What the configuration says, in milliseconds; null when it cannot be used. */
  configuredDrainMs: number | null;
  /** Why it has failed; null when it has not, or nothing tells. */
  cause: Cause | null;
}

/** Adds to a state what the file system and the configuration, null when it cannot be used, say of it. */
export function reportService(
  manager: string,
  state: ServiceState,
  config: Config | null,
  cause: Cause | null,
): ServiceReport {
  const nodeExists = state.node === null ? null : existsSync(state.node);
  const scriptExists = state.script === null ? null : existsSync(state.script);
  const port = config?.listen.port ?? 0;
  return {
    manager,
    ...state,
    nodeExists,
    scriptExists,
    configuredPort: port === 0 ? null : port,
    configuredDrainMs: config?.limits.drainMs ?? null,
    cause,
  };
}

/** Does the definition give open streams less time than the configuration, which has changed since? */
export function cutsDrain({ drainMs, configuredDrainMs }: ServiceReport): boolean {
  return drainMs !== null && configuredDrainMs !== null && drainMs < configuredDrainMs;
}

/** The report as people read it, one fact a line. */
export function renderService(report: ServiceReport): string[] {
  const { manager, isInstalled, isEnabled, isRunning, pid, detail, files } = report;
  if (!isInstalled) {
    return [row("service", `not installed (${manager}); install it with: tollkeeper service install`)];
  }
  return [
    row("service", `${isRunning ? `running, pid ${pid}` : "not running"}: ${detail}`),
    ...causeRows(report),
    row("enabled", isEnabled ? "yes, it starts at login" : "no; enable it with: tollkeeper service install"),
    ...pathRow("node", report.node, report.nodeExists),
    ...pathRow("script", report.script, report.scriptExists),
    ...portRow(report),
    ...drainRow(report),
    ...lingerRow(report.outlivesLogin),
    ...files.map((file, index) => row(index === 0 ? "files" : "", file)),
  ];
}

function causeRows({ hasFailed, cause }: ServiceReport): string[] {
  if (!hasFailed) return [];
  if (cause === null) return [row("why", "its log may tell: tollkeeper service logs")];
  return [row("why", cause.what), row("", cause.hint)];
}

function pathRow(name: string, path: string | null, exists: boolean | null): string[] {
  if (path === null) return [];
  const trouble = "; it is not there any more, name today's with: tollkeeper service install";
  return [row(name, `${path}${exists === false ? trouble : ""}`)];
}

function portRow({ manager, port, holdsPort, configuredPort }: ServiceReport): string[] {
  if (port === null) return [];
  const isOther = configuredPort !== null && configuredPort !== port;
  const listens = holdsPort ? `, where ${manager} listens for it` : "";
  return [row("port", `${port}${listens}${isOther ? apart(configuredPort) : ""}`)];
}

function drainRow(report: ServiceReport): string[] {
  const { drainMs, configuredDrainMs } = report;
  if (drainMs === null) return [];
  const trouble = cutsDrain(report) ? apart(`${Number(configuredDrainMs) / 1000} s`) : "";
  return [row("drain", `open streams get ${drainMs / 1000} s at a stop${trouble}`)];
}

function apart(configured: number | string): string {
  return `; the configuration says ${configured}, bring them together with: tollkeeper service install`;
}

function lingerRow(outlivesLogin: boolean | null): string[] {
  if (outlivesLogin === null) return [];
  return [
    row("linger", outlivesLogin ? "yes, it runs without a login, too" : "no, it ends with your last session"),
  ];
}
