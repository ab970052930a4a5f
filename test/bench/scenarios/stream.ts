import { PACES } from "../responses.ts";
import { measureLoad } from "../measure.ts";
import { SMALL_BODY_BYTES } from "../request.ts";
import type { Scenario } from "./scenario.ts";

const CLIENTS = 8;
const { events, everyMs } = PACES.stream;

/** Streams of spaced events: the delay that a target adds to each event. */
export const stream: Scenario = {
  name: "stream",
  title: `SSE, ${CLIENTS} clients, ${events} events ${everyMs} ms apart; what is added to direct`,
  isInQuick: true,
  isInWarmUp: true,
  figures: [
    {
      key: "firstByteUs",
      title: "first byte added µs",
      digits: 0,
      isAdded: true,
      isHeadline: true,
    },
    {
      key: "delayP50Us",
      title: "event added p50 µs",
      digits: 0,
      isAdded: true,
      isHeadline: true,
    },
    { key: "delayP99Us", title: "event added p99 µs", digits: 0, isAdded: true },
  ],
  async measure(site, subject, isShort) {
    const { firstByteUs, delayUs, faults, trust } = await measureLoad(site, subject, {
      response: "stream",
      bodyBytes: SMALL_BODY_BYTES,
      connections: CLIENTS,
      requests: isShort ? CLIENTS : 2 * CLIENTS,
      forMs: 5_000,
      isFresh: false,
    });
    const values = { firstByteUs: firstByteUs.p50, delayP50Us: delayUs.p50, delayP99Us: delayUs.p99 };
    return { values, faults, trust };
  },
};
