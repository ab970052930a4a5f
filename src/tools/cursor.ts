import { byHand } from "./by-hand.ts";

export const cursor = byHand({
  tool: "cursor",
  title: "Cursor",
  source: "https://ngrok.com/docs/gateway/examples/cursor-local-llm",
  date: "2026-11-22",
  signs: { programs: ["cursor"], files: [".cursor"] },
  remarks: () => [
    "Cursor cannot be led here: its own servers build every prompt and ask the model, and they cannot reach this machine.",
    "Its setting Override OpenAI Base URL refuses local addresses for that reason. A tunnel would open tollkeeper to the internet: do not build one.",
    "Claude Code and Codex in Cursor's terminal can be connected, each with its own recipe.",
  ],
});
