import { EVENTS, PACES } from "../responses.ts";
import { readMemory } from "../cpu.ts";
import { measureLoad } from "../measure.ts";
import type { Subject } from "../subject.ts";
import { SMALL_BODY_BYTES } from "../request.ts";
import { CPU_PER_EVENT, type Scenario } from "./scenario.ts";

const SAMPLE_MS = 250;

/** Concurrent streams, each as fast as a model writes. */
export function slow(streams: number): Scenario {
  return {
    name: `slow${streams}`,
    title: `SSE, ${streams} streams at a time, ${EVENTS.slow} events ${PACES.slow.everyMs} ms apart`,
    isInQuick: false,
    isInWarmUp: false,
    figures: [
      CPU_PER_EVENT,
      { key: "done", title: "complete", digits: 0 },
      { key: "delayP99Ms", title: "event p99 ms", digits: 1 },
      { key: "peakMb", title: "peak MB", digits: 0, isHeadline: true },
    ],
    async measure(site, subject) {
      const memory = watchMemory(subject);
      const { requests, delayUs, cpuUs, faults, trust } = await measureLoad(site, subject, {
        response: "slow",
        bodyBytes: SMALL_BODY_BYTES,
        connections: streams,
        requests: streams,
        forMs: 10_000,
        isFresh: false,
      });
      const values = {
        cpuUs: cpuUs / (requests * EVENTS.slow),
        done: requests,
        delayP99Ms: delayUs.p99 / 1_000,
        peakMb: memory.peak(),
      };
      return { values, faults, trust };
    },
  };
}

/** Samples a subject's memory until `peak` returns the maximum. */
function watchMemory({ pids }: Subject): { peak(): number } {
  const seen = [readMemory(pids)];
  const timer = setInterval(() => seen.push(readMemory(pids)), SAMPLE_MS);
  return {
    peak() {
      clearInterval(timer);
      return Math.max(...seen);
    },
  };
}
