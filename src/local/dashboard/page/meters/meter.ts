/** Empty where nothing is wrong. */
export type Tone = "" | "warning" | "failure";

/** How much of something is used, as a bar with its name above it and what comes next below. */
export interface Meter {
  name: string;
  /** The same with whole paths and accounts. */
  wholeName: string;
  /** May be over 100. */
  percent: number;
  /** The part of `percent` that is assumed. */
  assumed: number;
  used: string;
  tone: Tone;
  /** True for a spent budget that refuses requests. */
  isRefusing: boolean;
  /** What comes next, in a sentence; empty if nothing does. */
  next: string;
  /** What comes next, where that is bad and not said above every view, in sentences for where there is little room; mostly none. */
  alarms: readonly string[];
  /** What is wrong, in few words: `codex is refused until 6:00 PM`; empty where nothing is. */
  finding: string;
  /** What is assumed, and for which model, in sentences. */
  assumptions: readonly string[];
  /** What else there is to know, in sentences. */
  more: readonly string[];
  /** Who used it; empty where that is not known. It may hold any name, and no command. */
  movers: string;
}
