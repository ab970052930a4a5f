import type { Habit } from "./made-up-ledger.ts";

/** Ways in which people use tools, from even to uneven. Costs are distributed log-normally. */
export const HABITS: Readonly<Record<string, readonly Habit[]>> = {
  "one tool in one project": [
    { tool: "codex", project: "/home/u/shop", sessions: 6, requests: 25, usd: 0.04, spread: 0.5 },
  ],
  "quiet weekends": [
    {
      tool: "claude-code",
      project: "/home/u/shop",
      sessions: 8,
      requests: 30,
      usd: 0.05,
      spread: 0.8,
      weekend: 0.1,
    },
    {
      tool: "codex",
      project: "/home/u/shop",
      sessions: 3,
      requests: 20,
      usd: 0.03,
      spread: 0.8,
      weekend: 0.2,
    },
  ],
  "very uneven sessions": [
    { tool: "claude-code", project: "/home/u/shop", sessions: 5, requests: 20, usd: 0.05, spread: 1.2 },
  ],
  "a growing project": [
    {
      tool: "claude-code",
      project: "/home/u/shop",
      sessions: 6,
      requests: 25,
      usd: 0.03,
      spread: 0.7,
      growth: 5,
    },
  ],
  "a new project that costs more": [
    { tool: "claude-code", project: "/home/u/shop", sessions: 5, requests: 25, usd: 0.03, spread: 0.7 },
    {
      tool: "claude-code",
      project: "/home/u/site",
      sessions: 4,
      requests: 40,
      usd: 0.06,
      spread: 0.7,
      from: 35,
    },
  ],
  "side calls that cost next to nothing": [
    {
      tool: "claude-code",
      project: "/home/u/shop",
      sessions: 7,
      requests: 30,
      usd: 0.05,
      spread: 0.8,
      side: 0.4,
    },
    { tool: "zed", project: "/home/u/shop", sessions: 4, requests: 10, usd: 0.01, spread: 0.6, side: 0.9 },
  ],
  "seldom used": [
    { tool: "aider", project: "/home/u/blog", sessions: 0.6, requests: 15, usd: 0.05, spread: 0.9 },
  ],
};
