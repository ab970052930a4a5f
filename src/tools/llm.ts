import { join } from "node:path";
import { configHome } from "./recipe/directories.ts";
import type { Tool } from "./tool.ts";

/** Only known for its file of keys. */
export const llm: Tool = {
  name: "llm",
  title: "LLM",
  source: "https://llm.datasette.io/en/stable/setup.html",
  date: "2026-11-22",
  configFiles: (host) => [join(configHome(host), "io.datasette.llm", "keys.json")],
};
