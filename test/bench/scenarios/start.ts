import { setTimeout as delay } from "node:timers/promises";
import { readMemory } from "../cpu.ts";
import { Subject } from "../subject.ts";
import type { Scenario } from "./scenario.ts";

/** After this time a program's work after its first response is done. */
const SETTLED_MS = 300;

/** Uses a separate process, so that the one for the other scenarios stays warm. */
export const start: Scenario = {
  name: "start",
  title: "from the start of the process to its first response, and its memory then",
  isInQuick: true,
  isInWarmUp: false,
  figures: [
    { key: "startMs", title: "start ms", digits: 0, isHeadline: true },
    { key: "idleMb", title: "idle MB", digits: 0, isHeadline: true },
  ],
  async measure(site, { target }) {
    if (target.launch === null)
      return { values: { startMs: Number.NaN, idleMb: Number.NaN }, faults: [], trust: null };
    const subject = await Subject.start(target, site);
    await delay(SETTLED_MS);
    const values = { startMs: subject.startMs, idleMb: readMemory(subject.pids) };
    const faults = await subject.audit();
    await subject.stop();
    return { values, faults, trust: null };
  },
};
