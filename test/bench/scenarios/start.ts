import { setTimeout as delay } from "node:timers/promises";
import { readMemory } from "../cpu.ts";
import { Subject } from "../subject.ts";
import type { Scenario } from "./scenario.ts";

/** What a program does right after its first answer is over by then. */
const SETTLED_MS = 300;

/** A process of its own, so that the one that is measured otherwise stays warm. */
export const start: Scenario = {
  name: "start",
  title: "from the start of the process to its first answer, and what it then holds",
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
