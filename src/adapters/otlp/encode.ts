import {
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  type ISerializer,
} from "@opentelemetry/otlp-transformer";
import type { AttributeValues, ExportedExchange } from "../../core/export/exported-exchange.ts";
import type { HistogramValue, Metric, Point } from "../../core/metrics/metric.ts";

/** The kinds of data, each with a path of its own in OTLP. */
export type Signal = "logs" | "traces" | "metrics";

/** A request to a receiver, encoded as protobuf or as equivalent JSON. */
export type Format = "protobuf" | "json";

/** Who sends. */
export interface Sender {
  resource: AttributeValues;
  version: string;
}

/** What a receiver rejected of data that it otherwise accepted. */
export interface PartialSuccess {
  rejected: number;
  message: string;
}

// Their types are those of OpenTelemetry's SDK, of which nothing else is used.
type LogRecord = Parameters<typeof ProtobufLogsSerializer.serializeRequest>[0][number];
type Span = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0][number];
type ResourceMetrics = Parameters<typeof ProtobufMetricsSerializer.serializeRequest>[0];
type MetricData = ResourceMetrics["scopeMetrics"][number]["metrics"][number];
type Resource = ResourceMetrics["resource"];

/** The one name that the conventions have for the event of a request. */
const EVENT = "gen_ai.client.inference.operation.details";

// Numbers of OpenTelemetry's enumerations, which its packages declare and this file alone uses.
const INFO = 9;
const WARN = 13;
const CLIENT = 2;
const UNSET = 0;
const ERROR = 2;
const CUMULATIVE = 1;
const HISTOGRAM = 0;
const GAUGE = 2;
const SUM = 3;
const INTEGER = 0;
const DOUBLE = 1;

/** Encodes records as log records. Equal records are always encoded alike. */
export function encodeLogs(
  exchanges: readonly ExportedExchange[],
  sender: Sender,
  format: Format,
): Uint8Array {
  const common = { resource: resourceOf(sender), instrumentationScope: scopeOf(sender) };
  const records = exchanges.map(({ endedAt, attributes, isError }): LogRecord => {
    const time = hrTime(endedAt);
    return {
      ...common,
      hrTime: time,
      hrTimeObserved: time,
      eventName: EVENT,
      severityNumber: isError ? WARN : INFO,
      severityText: isError ? "WARN" : "INFO",
      attributes: attributes as LogRecord["attributes"],
      droppedAttributesCount: 0,
    };
  });
  return encode(format === "json" ? JsonLogsSerializer : ProtobufLogsSerializer, records);
}

/** Encodes records as spans. */
export function encodeSpans(
  exchanges: readonly ExportedExchange[],
  sender: Sender,
  format: Format,
): Uint8Array {
  const common = { resource: resourceOf(sender), instrumentationScope: scopeOf(sender) };
  const spans = exchanges.map((exchange): Span => {
    const { operation, model, startedAt, endedAt, attributes, isError, place } = exchange;
    const { traceId, spanId, parentId, flags } = place;
    return {
      ...common,
      name: model === null ? operation : `${operation} ${model}`,
      kind: CLIENT,
      spanContext: () => ({ traceId, spanId, traceFlags: flags }),
      ...(parentId !== null && {
        parentSpanContext: { traceId, spanId: parentId, traceFlags: flags, isRemote: true },
      }),
      startTime: hrTime(startedAt),
      endTime: hrTime(endedAt),
      duration: hrTime(endedAt - startedAt),
      status: { code: isError ? ERROR : UNSET },
      attributes: attributes as Span["attributes"],
      links: [],
      events: [],
      ended: true,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  });
  return encode(format === "json" ? JsonTraceSerializer : ProtobufTraceSerializer, spans);
}

/** Encodes cumulative metrics: `startedAt` and `now` are in milliseconds since 1970. */
export function encodeMetrics(
  metrics: Iterable<Metric>,
  times: { startedAt: number; now: number },
  sender: Sender,
  format: Format,
): Uint8Array {
  const between = { startTime: hrTime(times.startedAt), endTime: hrTime(times.now) };
  const data = Array.from(metrics, (metric) => toMetricData(metric, between));
  return encode(format === "json" ? JsonMetricsSerializer : ProtobufMetricsSerializer, {
    resource: resourceOf(sender),
    scopeMetrics: [
      { scope: scopeOf(sender), metrics: data.filter(({ dataPoints }) => dataPoints.length > 0) },
    ],
  });
}

/** Encodes a request without data, which every receiver accepts (https://opentelemetry.io/docs/specs/otlp/#full-success-1). */
export function encodeNothing(signal: Signal): Uint8Array {
  if (signal === "logs") return encode(ProtobufLogsSerializer, []);
  if (signal === "traces") return encode(ProtobufTraceSerializer, []);
  return new Uint8Array();
}

/** Reads the body of a response; null where it says nothing, or cannot be read: the status has said that the data is accepted. */
export function readPartialSuccess(signal: Signal, body: Uint8Array): PartialSuccess | null {
  if (body.length === 0) return null;
  try {
    const { rejected, message } = readRejected(signal, body);
    return rejected === 0 && message === "" ? null : { rejected, message };
  } catch {
    return null;
  }
}

function readRejected(signal: Signal, body: Uint8Array): PartialSuccess {
  if (signal === "logs") {
    const found = ProtobufLogsSerializer.deserializeResponse(body).partialSuccess;
    return { rejected: found?.rejectedLogRecords ?? 0, message: found?.errorMessage ?? "" };
  }
  if (signal === "traces") {
    const found = ProtobufTraceSerializer.deserializeResponse(body).partialSuccess;
    return { rejected: found?.rejectedSpans ?? 0, message: found?.errorMessage ?? "" };
  }
  const found = ProtobufMetricsSerializer.deserializeResponse(body).partialSuccess;
  return { rejected: found?.rejectedDataPoints ?? 0, message: found?.errorMessage ?? "" };
}

function encode<Data>(
  serializer: Pick<ISerializer<Data, unknown>, "serializeRequest">,
  data: Data,
): Uint8Array {
  const bytes = serializer.serializeRequest(data);
  if (bytes === undefined) throw new Error("the data cannot be encoded as OTLP");
  return bytes;
}

function resourceOf({ resource }: Sender): Resource {
  const plain = {
    attributes: resource as Resource["attributes"],
    merge: () => plain,
    getRawAttributes: () => Object.entries(plain.attributes),
  };
  return plain;
}

function scopeOf({ version }: Sender): { name: string; version: string } {
  return { name: "tollkeeper", version };
}

type Between = Pick<MetricData["dataPoints"][number], "startTime" | "endTime">;

function toMetricData({ name, kind, unit, help, points }: Metric, between: Between): MetricData {
  const all = [...points];
  const descriptor = { name, description: help, unit };
  if (kind === "histogram")
    return {
      descriptor: { ...descriptor, valueType: DOUBLE },
      aggregationTemporality: CUMULATIVE,
      dataPointType: HISTOGRAM,
      dataPoints: all.map((point) => ({ ...between, ...toHistogram(point) })),
    };
  const isWhole = all.every(({ value }) => typeof value === "number" && Number.isInteger(value));
  const number = {
    descriptor: { ...descriptor, valueType: isWhole ? INTEGER : DOUBLE },
    aggregationTemporality: CUMULATIVE,
    dataPoints: all.map((point) => ({
      ...between,
      attributes: attributesOf(point),
      value: Number(point.value),
    })),
  } as const;
  if (kind === "counter") return { ...number, dataPointType: SUM, isMonotonic: true };
  return { ...number, dataPointType: GAUGE };
}

function toHistogram(point: Point) {
  const { bounds, counts, count, sum } = point.value as HistogramValue;
  return {
    attributes: attributesOf(point),
    value: { buckets: { boundaries: [...bounds], counts: [...counts] }, count, sum },
  };
}

function attributesOf({ attributes, more }: Point): Record<string, string> {
  return { ...attributes, ...more };
}

/** Seconds and nanoseconds. Times have at most six decimal places of a millisecond. */
function hrTime(milliseconds: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(milliseconds / 1000);
  return [seconds, Math.min(999_999_999, Math.round((milliseconds - seconds * 1000) * 1_000_000))];
}
