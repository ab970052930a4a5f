/** The value of an attribute of OpenTelemetry. */
export type AttributeValue = string | number | boolean | readonly string[];

/** Attributes by their names, such as `gen_ai.request.model`. */
export type AttributeValues = Readonly<Record<string, AttributeValue>>;

/** The place of a span in a trace (W3C Trace Context). Ids are lower-case hexadecimal. */
export interface SpanPlace {
  /** 32 digits. */
  traceId: string;
  /** 16 digits. */
  spanId: string;
  /** The span of the client; null for the first of a trace. */
  parentId: string | null;
  /** The flags that the client sent; 1 is "sampled". */
  flags: number;
}

/** A record of the ledger as it leaves: a log record, or a span. Times are in milliseconds since 1970. */
export interface ExportedExchange {
  operation: string;
  model: string | null;
  startedAt: number;
  endedAt: number;
  attributes: AttributeValues;
  /** True if the request failed. */
  isError: boolean;
  place: SpanPlace;
}
