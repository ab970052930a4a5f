import { measureLoad } from "../measure.ts";
import { SMALL_BODY_BYTES } from "../request.ts";
import { CPU_PER_REQUEST, type Scenario } from "./scenario.ts";

/** Each request has its own connection, as from a newly started tool. tollkeeper looks up the user and process of each connection. */
export const fresh: Scenario = {
  name: "fresh",
  title: "2 KB request, each on a fresh connection, 4 at a time",
  isInQuick: false,
  isInWarmUp: true,
  figures: [
    CPU_PER_REQUEST,
    { key: "rate", title: "requests/s", digits: 0 },
    { key: "p50Us", title: "p50 µs", digits: 0 },
    { key: "p99Us", title: "p99 µs", digits: 0 },
  ],
  async measure(site, subject, isShort) {
    const { requests, seconds, wholeUs, cpuUs, faults, trust } = await measureLoad(site, subject, {
      response: "json",
      bodyBytes: SMALL_BODY_BYTES,
      connections: 4,
      requests: isShort ? 500 : 2_000,
      forMs: 1_500,
      isFresh: true,
    });
    const values = {
      cpuUs: cpuUs / requests,
      rate: requests / seconds,
      p50Us: wholeUs.p50,
      p99Us: wholeUs.p99,
    };
    return { values, faults, trust };
  },
};
