import { opencodeFamily } from "./opencode-family.ts";

export const kilo = opencodeFamily({
  tool: "kilo",
  title: "Kilo",
  source: "facts/clients.md section 4",
  date: "2026-11-22",
  tried: "7.7.7",
  signs: { programs: ["kilo", "kilocode"], files: [".local/share/kilo"] },
  directory: "kilo",
  file: "kilo.json",
  variable: "KILO_CONFIG_CONTENT",
});
