import type { Reading } from "../usage/reading.ts";

/** What decided the tool's name, strongest first (DESIGN section 5). */
export type ToolEvidence = "path" | "token" | "header" | "signature" | "process" | "library" | "unknown";

/** Who ended an exchange before its time. */
export type CutBy = "client" | "upstream" | "proxy";

/** What records call the built-in sandbox; no configured upstream may be called so. */
export const SANDBOX_UPSTREAM = "sandbox";

/** Version of the record's format; readers skip versions that they do not know. */
export const RECORD_VERSION = 1;

/** A process as records keep it. Never its arguments: they may hold prompts or credentials. */
export interface ProcessRecord {
  pid: number;
  /** Absolute path. */
  executable: string;
  /** Base names of its parents' executables, the nearest first, up to the terminal or editor. */
  parents: readonly string[];
}

/**
 * One line of the ledger: one request, whatever became of it. A closed shape: no prompt or answer text, no
 * header values but the ones named here. Unknown is null, never 0.
 */
export interface UsageRecord extends Reading {
  v: typeof RECORD_VERSION;
  /** Random and unique. */
  id: string;
  /** When the request arrived; ISO 8601, UTC, milliseconds. */
  ts: string;
  tool: string;
  tool_by: ToolEvidence;
  /** The tool's own name for its session, where it says one. */
  session: string | null;
  user_agent: string | null;
  /** What held the client's end; null where that was not known when the record was written. */
  process: ProcessRecord | null;
  /** The directory that the process works on, absolute; null as above, and where the configuration asks for none. */
  project: string | null;
  /** Name of the key used, never its value. */
  key: string;
  /** Name of the upstream in the configuration. */
  upstream: string;
  /** The route's path below `/v1`, e.g. `/messages`. */
  route: string;
  method: string;
  /** Status of the answer, the upstream's or our own; null when there was none. */
  status: number | null;
  model_requested: string | null;
  /** Was an event stream asked for, or given? null when neither is known. */
  stream: boolean | null;
  upstream_request_id: string | null;
  cut_by: CutBy | null;
  /** Request received to the first content event; for an answer that is no stream, to its first byte. */
  ttft_ms: number | null;
  /** Request received to the answer's end, milliseconds. */
  duration_ms: number;
  /** Body bytes received from the client. */
  bytes_in: number;
  /** Body bytes sent to the client, as they were on the wire. */
  bytes_out: number;
}
