import { opencodeFamily } from "./opencode-family.ts";

export const opencode = opencodeFamily({
  tool: "opencode",
  title: "opencode",
  source: "facts/clients.md section 4",
  date: "2026-11-22",
  tried: "1.18.33",
  signs: { programs: ["opencode"], files: [".local/share/opencode"] },
  directory: "opencode",
  file: "opencode.json",
  variable: "OPENCODE_CONFIG_CONTENT",
});
