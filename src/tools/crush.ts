import { configHome, dataHome, filesIn } from "./recipe/directories.ts";
import type { Tool } from "./tool.ts";

/** No recipe yet: it was not tried. */
export const crush: Tool = {
  name: "crush",
  title: "Crush",
  source: "https://github.com/charmbracelet/crush",
  date: "2026-11-22",
  processSignatures: [{ names: ["crush"], source: "npm package @charmland/crush 0.96.1" }],
  configFiles: (host) => [dataHome(host), configHome(host)].flatMap((at) => filesIn(at, "crush/crush.json")),
};
