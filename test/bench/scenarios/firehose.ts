import { EVENTS } from "../responses.ts";
import { measureLoad } from "../measure.ts";
import { SMALL_BODY_BYTES } from "../request.ts";
import { CPU_PER_EVENT, type Scenario } from "./scenario.ts";

/** Streams of Messages at full speed: the cost of an event alone. */
export const firehose = atFullSpeed("firehose", "Messages", true);

/** The same of Chat Completions, whose usage is in the last event. */
export const chat = atFullSpeed("chat", "Chat Completions", false);

function atFullSpeed(response: "firehose" | "chat", api: string, isInQuick: boolean): Scenario {
  return {
    name: response,
    title: `SSE of ${api}, ${EVENTS[response]} events at once, one HTTP chunk each, 1 connection`,
    isInQuick,
    isInWarmUp: true,
    figures: [CPU_PER_EVENT, { key: "megabytes", title: "MB/s", digits: 0 }],
    async measure(site, subject, isShort) {
      if (response === "chat" && !subject.target.isTransparent) return NOT_MEASURED;
      const { requests, seconds, bodyBytes, cpuUs, faults, trust } = await measureLoad(site, subject, {
        response,
        bodyBytes: SMALL_BODY_BYTES,
        connections: 1,
        requests: isShort ? 6 : 15,
        forMs: 2_000,
        isFresh: false,
      });
      const values = { cpuUs: cpuUs / (requests * EVENTS[response]), megabytes: bodyBytes / 1e6 / seconds };
      return { values, faults, trust };
    },
  };
}

const NOT_MEASURED = { values: {}, faults: [], trust: null };
