import { measureLoad } from "../measure.ts";
import { SMALL_BODY_BYTES } from "../request.ts";
import { CPU_PER_REQUEST, type Scenario } from "./scenario.ts";

const MAX_REQUESTS = 200_000;

/** Small JSON requests on so many persistent connections. */
export function small(connections: number, isInQuick: boolean): Scenario {
  return {
    name: `small${connections}`,
    title: `2 KB request, 554 byte JSON response, ${connections} connection${connections === 1 ? "" : "s"}`,
    isInQuick,
    isInWarmUp: false,
    figures: [
      CPU_PER_REQUEST,
      { key: "rate", title: "requests/s", digits: 0 },
      {
        key: "addedUs",
        title: "p50 added µs",
        digits: 0,
        isAdded: true,
        isHeadline: connections === 1,
      },
      { key: "p50Us", title: "p50 µs", digits: 0 },
      { key: "p99Us", title: "p99 µs", digits: 0 },
    ],
    async measure(site, subject, isShort) {
      const { requests, seconds, wholeUs, cpuUs, faults, trust } = await measureLoad(site, subject, {
        response: "json",
        bodyBytes: SMALL_BODY_BYTES,
        connections,
        requests: MAX_REQUESTS,
        forMs: isShort ? 600 : 1_500,
        isFresh: false,
      });
      const values = {
        cpuUs: cpuUs / requests,
        rate: requests / seconds,
        addedUs: wholeUs.p50,
        p50Us: wholeUs.p50,
        p99Us: wholeUs.p99,
      };
      return { values, faults, trust };
    },
  };
}
