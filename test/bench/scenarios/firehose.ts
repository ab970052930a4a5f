import { EVENTS } from "../responses.ts";
import { measureLoad } from "../measure.ts";
import { SMALL_BODY_BYTES } from "../request.ts";
import { CPU_PER_EVENT, type Scenario } from "./scenario.ts";

/** Streams at full speed: the cost of an event alone. */
export const firehose: Scenario = {
  name: "firehose",
  title: `SSE, ${EVENTS.firehose} events at once, one HTTP chunk each, 1 connection`,
  isInQuick: true,
  isInWarmUp: true,
  figures: [CPU_PER_EVENT, { key: "megabytes", title: "MB/s", digits: 0 }],
  async measure(site, subject, isShort) {
    const { requests, seconds, bodyBytes, cpuUs, faults, trust } = await measureLoad(site, subject, {
      response: "firehose",
      bodyBytes: SMALL_BODY_BYTES,
      connections: 1,
      requests: isShort ? 6 : 15,
      forMs: 2_000,
      isFresh: false,
    });
    const values = { cpuUs: cpuUs / (requests * EVENTS.firehose), megabytes: bodyBytes / 1e6 / seconds };
    return { values, faults, trust };
  },
};
