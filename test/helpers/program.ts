import { fileURLToPath } from "node:url";

/** The compiled program, as its users run it; test/run.ts builds it first. Starts in half the time that tsx needs. */
export const PROGRAM = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
