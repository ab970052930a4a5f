import type { JsonObject } from "../../core/json.ts";

/** The data of one event of a stream whose events have names. Its `type` is also the event's name. */
export interface StreamEvent extends JsonObject {
  type: string;
}

/** Returns named events in their form on the wire. */
export function renderEvents(events: readonly StreamEvent[]): string[] {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** Returns the stream up to its first piece of content, or without its last event if it has none, followed by `errors`. */
export function failStream(events: readonly StreamEvent[], errors: readonly StreamEvent[]): StreamEvent[] {
  const first = events.findIndex(({ type }) => type === "content_block_delta" || type.endsWith(".delta"));
  return [...events.slice(0, first === -1 ? -1 : first + 1), ...errors];
}
