import { programBuild } from "../../adapters/program-build.ts";
import { programVersion } from "../../adapters/program.ts";
import { UPSTREAM } from "../../core/metrics/exchange-attributes.ts";
import type { Attributes, Metric, Point } from "../../core/metrics/metric.ts";
import { describeWindows } from "../../core/metrics/limit-metrics.ts";
import { failingUpstream, healthOf, historyOf, type StatusParts } from "../status.ts";

const NOTHING: Attributes = {};

/**
 * Returns what a daemon knows of itself at this moment. These counters begin at 0 with each start, which Prometheus expects of counters.
 * No name of a user, host, path or session is in it.
 */
export function describeDaemonMetrics(parts: StatusParts): Metric[] {
  const { gate, ledger, lifecycle, source, clock } = parts;
  const { written, waiting, lost } = ledger.health();
  const { loadedAt, problems } = source.status();
  const { user, system } = process.cpuUsage();
  const build = { version: programVersion(), build: programBuild() ?? "" };
  return [
    one(
      "tollkeeper.up",
      "gauge",
      "",
      "1 while the daemon runs; 0 if tollkeeper metrics found no running daemon.",
      1,
    ),
    one(
      "tollkeeper.healthy",
      "gauge",
      "",
      "1 when the daemon can serve requests, as health checks report; else 0.",
      Number(healthOf(parts) === "ok"),
    ),
    {
      ...one("tollkeeper.build", "info", "", "Version and build.", 1),
      points: [{ attributes: build, value: 1 }],
    },
    one(
      "tollkeeper.start_time",
      "gauge",
      "s",
      "When the daemon started, in seconds since 1970.",
      lifecycle.startedAt.getTime() / 1000,
    ),
    one("tollkeeper.running_requests", "gauge", "{request}", "Requests in progress.", gate.openExchanges),
    one(
      "tollkeeper.waiting",
      "gauge",
      "By",
      "Bytes that wait in memory until tools or upstreams read them.",
      gate.bufferedBytes,
    ),
    {
      name: "tollkeeper.refusals",
      kind: "counter",
      unit: "{request}",
      help: "Requests that tollkeeper refused since its start, by refusal code.",
      points: refusals(parts),
    },
    ...describeUpstreams(parts, clock.now()),
    ...describeWindows(parts.limits.describe()),
    one(
      "tollkeeper.ledger.written_records",
      "counter",
      "{record}",
      "Records that were written since the start.",
      written,
    ),
    one(
      "tollkeeper.ledger.waiting_records",
      "gauge",
      "{record}",
      "Records that wait in memory because they cannot be written.",
      waiting,
    ),
    one(
      "tollkeeper.ledger.lost_records",
      "counter",
      "{record}",
      "Records that were lost since the start.",
      lost,
    ),
    one(
      "tollkeeper.config.valid",
      "gauge",
      "",
      "1 when the configuration file is in force as it is; 0 when it has problems.",
      Number(problems.length === 0),
    ),
    one(
      "tollkeeper.config.load_time",
      "gauge",
      "s",
      "When the configuration in force was loaded, in seconds since 1970.",
      Date.parse(loadedAt) / 1000,
    ),
    one(
      "tollkeeper.cpu",
      "counter",
      "s",
      "Processor time of the daemon since its start.",
      (user + system) / 1_000_000,
    ),
    one("tollkeeper.resident_memory", "gauge", "By", "Memory of the daemon.", process.memoryUsage.rss()),
  ];
}

function one(name: string, kind: Metric["kind"], unit: Metric["unit"], help: string, value: number): Metric {
  return { name, kind, unit, help, points: [{ attributes: NOTHING, value }] };
}

function refusals({ gate }: StatusParts): Point[] {
  return Object.entries(gate.refusals.totals()).map(([code, value]) => {
    return { attributes: { "tollkeeper.refusal": code }, value };
  });
}

/** Of upstreams with which an exchange has ended. */
function describeUpstreams(parts: StatusParts, now: number): Metric[] {
  const { gate } = parts;
  const names = Object.values(gate.settings.config.upstreams).map(({ name }) => name);
  const pointsOf = (valueOf: (name: string) => number | null): Point[] =>
    names.flatMap((name) => {
      const value = valueOf(name);
      return value === null ? [] : [{ attributes: { [UPSTREAM]: name }, value }];
    });
  const history = (name: string) => historyOf(name, parts);
  return [
    {
      name: "tollkeeper.upstream.up",
      kind: "gauge",
      unit: "",
      help: "0 while the upstream fails: no connection, a web page, or several errors in a row; else 1.",
      points: pointsOf((name) =>
        (history(name)?.count ?? 0) === 0 ? null : Number(failingUpstream(name, parts) === null),
      ),
    },
    {
      name: "tollkeeper.upstream.success_age",
      kind: "gauge",
      unit: "s",
      help: "How long ago an exchange last worked.",
      points: pointsOf((name) => {
        const worked = history(name)?.worked ?? null;
        if (worked === null) return null;
        return Math.max(0, now - Date.parse(worked.ts) - worked.duration_ms) / 1000;
      }),
    },
    {
      name: "tollkeeper.upstream.cooldown",
      kind: "gauge",
      unit: "s",
      help: "How much longer requests go to its fallback; 0 if they do not.",
      points: pointsOf((name) => (gate.cooldownOf(name) ?? 0) / 1000),
    },
  ];
}
