import type { AccountStatus, WindowStatus } from "../limits/account-limits.ts";
import type { Metric, Point } from "./metric.ts";

/**
 * Describes the limits of services as metrics: of windows that have not reset since a response told of them. What is used after that, nothing
 * has said.
 */
export function describeWindows(accounts: readonly AccountStatus[]): Metric[] {
  const pointsOf = (valueOf: (window: WindowStatus) => number | null): Point[] =>
    accounts.flatMap(({ account, windows }) =>
      windows.flatMap((window) => {
        const value = window.state === "reset" ? null : valueOf(window);
        const attributes = { "tollkeeper.account": account, "tollkeeper.window": window.window };
        return value === null ? [] : [{ attributes, value }];
      }),
    );
  return [
    {
      name: "tollkeeper.limit.used_ratio",
      kind: "gauge",
      unit: "",
      help: "Share that is used of a limit of the service, from 0 to 1, as the latest response said.",
      points: pointsOf(({ usedPercent }) => (usedPercent === null ? null : usedPercent / 100)),
    },
    {
      name: "tollkeeper.limit.reset_time",
      kind: "gauge",
      unit: "s",
      help: "When a limit of the service resets, in seconds since 1970.",
      points: pointsOf(({ resetsAt }) => (resetsAt === null ? null : Date.parse(resetsAt) / 1000)),
    },
    {
      name: "tollkeeper.limit.seen_time",
      kind: "gauge",
      unit: "s",
      help: "When the latest response said something of a limit, in seconds since 1970.",
      points: pointsOf(({ seenAt }) => Date.parse(seenAt) / 1000),
    },
  ];
}
