import { measureLoad } from "../measure.ts";
import { CPU_PER_REQUEST, type Scenario } from "./scenario.ts";

/** Requests as large as a conversation of some length, up to one with images. */
export function large(kilobytes: number): Scenario {
  return {
    name: kilobytes === 1024 ? "large" : `large${kilobytes}`,
    title: `${kilobytes} KB request, 554 byte JSON response, 1 connection`,
    isInQuick: false,
    isInWarmUp: kilobytes === 1024,
    figures: [
      CPU_PER_REQUEST,
      { key: "p50Us", title: "p50 µs", digits: 0 },
      { key: "p99Us", title: "p99 µs", digits: 0 },
    ],
    async measure(site, subject, isShort) {
      const { requests, wholeUs, cpuUs, faults, trust } = await measureLoad(site, subject, {
        response: "json",
        bodyBytes: kilobytes * 1024,
        connections: 1,
        requests: isShort ? 100 : 500,
        forMs: 1_500,
        isFresh: false,
      });
      return {
        values: { cpuUs: cpuUs / requests, p50Us: wholeUs.p50, p99Us: wholeUs.p99 },
        faults,
        trust,
      };
    },
  };
}
