import { measureLoad } from "../measure.ts";
import { CPU_PER_REQUEST, type Scenario } from "./scenario.ts";

/** Requests as large as a long conversation with images. */
export const large: Scenario = {
  name: "large",
  title: "1 MB request, 554 byte JSON response, 1 connection",
  isInQuick: false,
  isInWarmUp: true,
  figures: [CPU_PER_REQUEST, { key: "p50Us", title: "p50 µs", digits: 0 }],
  async measure(site, subject, isShort) {
    const { requests, wholeUs, cpuUs, faults, trust } = await measureLoad(site, subject, {
      response: "json",
      bodyBytes: 1024 * 1024,
      connections: 1,
      requests: isShort ? 100 : 500,
      forMs: 1_500,
      isFresh: false,
    });
    return { values: { cpuUs: cpuUs / requests, p50Us: wholeUs.p50 }, faults, trust };
  },
};
