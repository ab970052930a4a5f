import type { Tool } from "./tool.ts";

/** It uses only its own service, so it cannot be connected; programs that it starts can. */
export const amp: Tool = {
  name: "amp",
  title: "Amp",
  source: "https://www.npmjs.com/package/@sourcegraph/amp",
  date: "2026-11-22",
  processSignatures: [{ names: ["amp"], source: "npm package @sourcegraph/amp 0.0.1790142911" }],
};
