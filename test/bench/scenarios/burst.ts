import { countEnded, fillWithEnded, waitUntilForgotten } from "../ended-connections.ts";
import { type Measured, measureLoad } from "../measure.ts";
import { SMALL_BODY_BYTES } from "../request.ts";
import { median } from "../../helpers/process/process-metrics.ts";
import { CPU_PER_REQUEST, type Scenario } from "./scenario.ts";

const CLIENTS = 8;
const BURSTS = 25;
/** What counts as an empty table: some rows of the scenarios before do not matter. */
const FEW_ROWS = 200;

/**
 * Tools that start at once. tollkeeper reads the kernel's table of connections for each of them, and ended connections are rows of it.
 *
 * @param rows the ended connections in the table
 */
export function burst(rows: number): Scenario {
  return {
    name: `burst${rows}`,
    title: `2 KB request, ${CLIENTS} fresh connections at once, ${rows.toLocaleString("en-US")} ended connections in the kernel's table`,
    isInQuick: false,
    isInWarmUp: false,
    figures: [
      { key: "firstByteUs", title: "first byte added µs", digits: 0, isAdded: true, isHeadline: true },
      { key: "lastUs", title: "last of the 8 added µs", digits: 0, isAdded: true },
      CPU_PER_REQUEST,
      { key: "rows", title: "rows", digits: 0 },
    ],
    async measure(site, subject) {
      await (rows === 0 ? waitUntilForgotten(FEW_ROWS) : fillWithEnded(rows));
      const bursts: Measured[] = [];
      for (let at = 0; at < BURSTS; at += 1) {
        bursts.push(
          await measureLoad(site, subject, {
            response: "json",
            bodyBytes: SMALL_BODY_BYTES,
            connections: CLIENTS,
            requests: CLIENTS,
            forMs: 1_000,
            isFresh: true,
          }),
        );
      }
      const sum = (read: (one: Measured) => number) => bursts.reduce((total, one) => total + read(one), 0);
      return {
        values: {
          firstByteUs: median(bursts.map(({ firstByteUs }) => firstByteUs.p50)),
          lastUs: median(bursts.map(({ firstByteUs }) => firstByteUs.p99)),
          cpuUs: sum(({ cpuUs }) => cpuUs) / sum(({ requests }) => requests),
          rows: countEnded(),
        },
        faults: bursts.flatMap(({ faults }) => faults),
        // Too short to judge how long the target waited for its processor.
        trust: null,
      };
    },
  };
}
