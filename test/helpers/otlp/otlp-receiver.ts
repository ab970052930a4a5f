import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { gunzipSync } from "node:zlib";

/** The official protobuf definitions, as protobufjs generates code of them: another implementation than the one that encodes. */
const { opentelemetry } = createRequire(import.meta.url)("otlp-definitions/build/src/generated/root.js") as {
  opentelemetry: { proto: Definitions };
};

interface MessageType {
  decode(bytes: Uint8Array): object;
  encode(message: object): { finish(): Uint8Array };
  toObject(message: object, options: object): Record<string, unknown>;
}

interface Definitions {
  collector: Record<"logs" | "trace" | "metrics", { v1: Record<string, MessageType> }>;
}

/** A request that the receiver got. */
export interface ReceivedRequest {
  path: string;
  headers: IncomingMessage["headers"];
  /** Every byte of the body, uncompressed. */
  body: Buffer;
  /** The message; 64-bit numbers are decimal texts, bytes are base64. */
  message: Received;
}

/** A log record or a span, its attributes as an object. */
export interface ReceivedRecord {
  id: string;
  attributes: Record<string, unknown>;
  [field: string]: unknown;
}

/** A request, as the official definitions decode it. */
export type Received = Record<string, unknown>;

/** What the receiver does with a request: null for its usual answer, which accepts it. */
type Behaviour = (request: ReceivedRequest, response: ServerResponse) => Answer | null;

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: Uint8Array | string;
}

/** A collector on loopback that decodes what it gets with the official definitions. */
export interface OtlpReceiver {
  endpoint: string;
  port: number;
  /** All requests, those that it did not accept included. */
  requests: ReceivedRequest[];
  /** What it accepted: the record of each id once. */
  records: Map<string, ReceivedRecord>;
  /** How often an id came that it had. */
  readonly repeated: number;
  /** The last value of each sum: by the metric's name and its attributes. */
  sums: Map<string, number>;
  /** Replaces what it does. */
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

const PATHS = {
  "/v1/logs": ["logs", "ExportLogsService"],
  "/v1/traces": ["trace", "ExportTraceService"],
  "/v1/metrics": ["metrics", "ExportMetricsService"],
} as const;

/** Starts a receiver, which ends with the test. */
export async function startOtlpReceiver(
  t: Pick<TestContext, "after">,
  { port = 0 } = {},
): Promise<OtlpReceiver> {
  const requests: ReceivedRequest[] = [];
  const records = new Map<string, ReceivedRecord>();
  const sums = new Map<string, number>();
  let repeated = 0;
  let behaviour: Behaviour = acceptAll;
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await buffer(request);
    const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw;
    const path = request.url ?? "";
    const received = { path, headers: request.headers, body, message: decode(path, body) };
    requests.push(received);
    const other = behaviour(received, response);
    if (other === null) {
      accept(received.message);
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    } else if (other.status > 0) {
      response.writeHead(other.status, other.headers ?? {}).end(other.body ?? "");
    }
  }
  function accept(message: Received): void {
    for (const record of recordsIn(message)) {
      if (records.has(record.id)) repeated += 1;
      records.set(record.id, record);
    }
    for (const { name, attributes, value } of sumPointsIn(message))
      sums.set(`${name} ${JSON.stringify(attributes)}`, value);
  }
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  t.after(close);
  const { port: taken } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${taken}`,
    port: taken,
    requests,
    records,
    get repeated() {
      return repeated;
    },
    sums,
    behave: (next) => void (behaviour = next),
    close,
  };
}

function acceptAll(): Answer | null {
  return null;
}

/** Encodes a response that accepts a request but for so many of its records. */
export function partialSuccess(path: keyof typeof PATHS, rejected: number, errorMessage: string): Answer {
  const [signal, service] = PATHS[path];
  const field = { logs: "rejectedLogRecords", trace: "rejectedSpans", metrics: "rejectedDataPoints" }[signal];
  const type = typeOf(signal, `${service}Response`);
  const body = type.encode({ partialSuccess: { [field]: rejected, errorMessage } }).finish();
  return { status: 200, headers: { "content-type": "application/x-protobuf" }, body };
}

function decode(path: string, body: Buffer): Received {
  if (!(path in PATHS)) return {};
  const [signal, service] = PATHS[path as keyof typeof PATHS];
  const type = typeOf(signal, `${service}Request`);
  return type.toObject(type.decode(body), { longs: String, bytes: String, defaults: true });
}

function typeOf(signal: "logs" | "trace" | "metrics", name: string): MessageType {
  const type = opentelemetry.proto.collector[signal].v1[name];
  if (type === undefined) throw new Error(`no definition of ${name}`);
  return type;
}

type Nested = Record<string, unknown[] | undefined>;

/** Returns everything below these members, one after another. */
function below(message: unknown, ...members: string[]): Record<string, unknown>[] {
  let found = [message as Nested];
  for (const member of members) found = found.flatMap((each) => (each[member] ?? []) as Nested[]);
  return found;
}

/** Returns the attributes of the resource that a request is about. */
export function resourceOf(message: Received): Record<string, unknown> {
  const [first] = ["resourceLogs", "resourceSpans", "resourceMetrics"].flatMap((name) =>
    below(message, name),
  );
  return attributesOf((first?.["resource"] ?? {}) as Record<string, unknown>);
}

/** Returns the log records or spans of a request. */
export function recordsIn(message: Received): ReceivedRecord[] {
  const logs = below(message, "resourceLogs", "scopeLogs", "logRecords");
  const spans = below(message, "resourceSpans", "scopeSpans", "spans");
  return [...logs, ...spans].map((record) => {
    const attributes = attributesOf(record);
    return { ...record, attributes, id: String(attributes["tollkeeper.record.id"]) };
  });
}

/** A value of a cumulative sum. */
export interface SumPoint {
  name: string;
  attributes: Record<string, unknown>;
  value: number;
  /** Since when it is summed, and up to when; in nanoseconds since 1970. */
  start: bigint;
  time: bigint;
}

/** Returns the values of sums of a request. */
export function sumPointsIn(message: Received): SumPoint[] {
  return pointsIn(message, "sum");
}

/** Returns the values of gauges of a request. */
export function gaugesIn(message: Received): SumPoint[] {
  return pointsIn(message, "gauge");
}

function pointsIn(message: Received, kind: "sum" | "gauge"): SumPoint[] {
  return below(message, "resourceMetrics", "scopeMetrics", "metrics").flatMap((metric) =>
    below(metric[kind] ?? {}, "dataPoints").map((point) => ({
      name: String(metric["name"]),
      attributes: attributesOf(point),
      value: Number(point["asInt"] ?? point["asDouble"]),
      start: BigInt(String(point["startTimeUnixNano"])),
      time: BigInt(String(point["timeUnixNano"])),
    })),
  );
}

function attributesOf(message: Record<string, unknown>): Record<string, unknown> {
  const pairs = below(message, "attributes") as { key?: unknown; value?: Record<string, unknown> }[];
  return Object.fromEntries(pairs.map(({ key, value }) => [String(key), Object.values(value ?? {})[0]]));
}
