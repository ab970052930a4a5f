import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The directory of the files that docs/team.md describes. */
export const TEAM = fileURLToPath(new URL("../../docs/team/", import.meta.url));

export const readTeamFile = (name: string) => readFileSync(TEAM + name, "utf8");

/** A panel of the dashboard, as far as it is used here. */
export interface Panel {
  id: number;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource: { uid: string };
  targets: { refId: string; expr: string }[];
}

export interface Dashboard {
  title: string;
  uid: string;
  schemaVersion: number;
  templating: { list: { name: string; query: string | { query: string } }[] };
  panels: Panel[];
}

export const readDashboard = () => JSON.parse(readTeamFile("grafana-dashboard.json")) as Dashboard;

/** Returns the expressions of the dashboard's panels as Grafana sends them, for all machines and tools. */
export function dashboardExpressions(): string[] {
  return readDashboard().panels.flatMap(({ targets }) =>
    targets.map(({ expr }) =>
      expr.replaceAll(/\$__range|\$__rate_interval/g, "5m").replaceAll(/\$(?:instance|tool)\b/g, ".*"),
    ),
  );
}
