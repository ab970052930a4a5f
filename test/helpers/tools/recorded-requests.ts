import { readFileSync } from "node:fs";

/** The head of a request that a real program sent; credentials, paths and kernel names in it are replaced. */
export interface RecordedRequest {
  id: string;
  /** The tool or library that it must be attributed to. */
  tool: string;
  version: string;
  mode: string;
  method: string;
  url: string;
  headers: [name: string, value: string][];
}

/** Recorded on 2026-11-21 from the npm packages at the versions in docs/wire.md section 2. */
export const RECORDED_REQUESTS: readonly RecordedRequest[] = readFileSync(
  new URL("recorded-requests.jsonl", import.meta.url),
  "utf8",
)
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as RecordedRequest);
