import type { UsageRecord } from "../ledger/record.ts";

/** A capture: what a person has asked to see of a tool, and until when. Times are ISO 8601, UTC. */
export interface CaptureStatus {
  id: string;
  tool: string;
  state: "running" | "ended";
  startedAt: string;
  /** When it ends, or has ended. */
  until: string;
  /** Why it has ended before its time; null while it runs, and if it did not. */
  ended: string | null;
  /** When it is deleted. */
  deletedAt: string;
  /** How many requests it has, and at most. */
  requests: number;
  most: number | null;
  /** Bytes of its file. */
  bytes: number;
}

/** A captured request in a list. */
export interface CapturedSummary {
  /** Of its record. */
  id: string;
  capture: string;
  at: string;
  session: string | null;
  /** What its agent does, as in the record; null for a request that no agent sends. */
  agentKind: string | null;
  model: string | null;
  method: string;
  /** At the upstream, without its query. */
  path: string;
  status: number | null;
  outcome: string;
  /** Of the bodies, decoded. */
  requestBytes: number;
  responseBytes: number;
}

/** One captured message: a request or a response. */
export interface CapturedMessage {
  /** Name and value, in their order and spelling; values of credentials are removed. */
  headers: [name: string, value: string][];
  /** Of the body on the wire. */
  wireBytes: number;
  /** Why the body is missing or not all of it; null if it is there as a whole. */
  lack: string | null;
}

/** What is kept of a request beside the two bodies. */
interface CapturedHead {
  capture: string;
  tool: string;
  method: string;
  /** Of the upstream. */
  origin: string;
  /** At the upstream, with its query. */
  path: string;
  request: CapturedMessage;
  response: CapturedMessage;
  /** As the ledger has it. */
  record: UsageRecord;
}

/** A captured request and its response, as the control socket sends them: the bodies decoded, in base64. */
export interface CapturedExchange {
  head: CapturedHead;
  request: string;
  response: string;
}

/** Encodes a captured exchange: the lengths of head and request in four bytes each, the head as JSON, the two bodies. */
export function encodeCaptured(head: CapturedHead, request: Buffer, response: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const lengths = [text, request].map(({ length }) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(length);
    return bytes;
  });
  return Buffer.concat([...lengths, text, request, response]);
}

/** Decodes what {@link encodeCaptured} has made. */
export function decodeCaptured(entry: Buffer): CapturedExchange {
  const headEnd = 8 + entry.readUInt32BE(0);
  const requestEnd = headEnd + entry.readUInt32BE(4);
  return {
    head: JSON.parse(entry.toString("utf8", 8, headEnd)) as CapturedHead,
    request: entry.toString("base64", headEnd, requestEnd),
    response: entry.toString("base64", requestEnd),
  };
}
