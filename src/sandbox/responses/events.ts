import type { StreamEvent } from "../http/event-stream.ts";
import { splitIntoChunks } from "../generation/tokens.ts";
import { toUnfinished, type OutputItem, type ResponseObject } from "./response.ts";

/** Returns the events that stream a response, in the order of recorded streams. Only the last event has usage. */
export function responseEvents(response: ResponseObject): StreamEvent[] {
  return numberEvents([
    ...openingEvents(response),
    ...response.output.flatMap((item, index) => itemEvents(item, index)),
    { type: `response.${response.status}`, response },
  ]);
}

/** Adds sequence numbers. */
export function numberEvents(events: readonly StreamEvent[]): StreamEvent[] {
  return events.map((event, at) => ({ ...event, sequence_number: at }));
}

function openingEvents(response: ResponseObject): StreamEvent[] {
  const queued = toUnfinished(response, "queued");
  const begun = toUnfinished(response, "in_progress");
  const isQueued = response["background"] === true;
  return [
    { type: "response.created", response: isQueued ? queued : begun },
    ...(isQueued ? [{ type: "response.queued", response: queued }] : []),
    { type: "response.in_progress", response: begun },
  ];
}

function itemEvents(item: OutputItem, index: number): StreamEvent[] {
  const { empty, content } = splitItem(item, { item_id: item.id, output_index: index });
  return [
    { type: "response.output_item.added", item: empty, output_index: index },
    ...content,
    { type: "response.output_item.done", item, output_index: index },
  ];
}

/** The item of the response that an event belongs to. */
interface ItemRef {
  item_id: string;
  output_index: number;
}

/** Returns an item as it is added, without content, and the events that fill it. */
function splitItem(item: OutputItem, ref: ItemRef): { empty: OutputItem; content: StreamEvent[] } {
  switch (item.type) {
    case "reasoning":
      return { empty: { ...item, summary: [] }, content: summaryEvents(item, ref) };
    case "message":
      return { empty: { ...item, status: "in_progress", content: [] }, content: textEvents(item, ref) };
    case "function_call":
      return { empty: { ...item, status: "in_progress", arguments: "" }, content: callEvents(item, ref) };
  }
}

function summaryEvents(item: Extract<OutputItem, { type: "reasoning" }>, ref: ItemRef): StreamEvent[] {
  return item.summary.flatMap((part, index) => {
    const partRef = { ...ref, summary_index: index };
    return [
      { type: "response.reasoning_summary_part.added", ...partRef, part: { ...part, text: "" } },
      ...splitIntoChunks(part.text).map((delta) => ({
        type: "response.reasoning_summary_text.delta",
        ...partRef,
        delta,
      })),
      { type: "response.reasoning_summary_text.done", ...partRef, text: part.text },
      { type: "response.reasoning_summary_part.done", ...partRef, part },
    ];
  });
}

function textEvents(item: Extract<OutputItem, { type: "message" }>, ref: ItemRef): StreamEvent[] {
  const { item_id, output_index } = ref;
  return item.content.flatMap((part, content_index) => [
    {
      type: "response.content_part.added",
      content_index,
      item_id,
      output_index,
      part: { ...part, text: "" },
    },
    ...splitIntoChunks(part.text).map((delta) => ({
      type: "response.output_text.delta",
      content_index,
      delta,
      item_id,
      logprobs: [],
      output_index,
    })),
    {
      type: "response.output_text.done",
      content_index,
      item_id,
      logprobs: [],
      output_index,
      // A placeholder for `numberEvents`: recorded events have the number before the text.
      sequence_number: 0,
      text: part.text,
    },
    { type: "response.content_part.done", content_index, item_id, output_index, part },
  ]);
}

function callEvents(item: Extract<OutputItem, { type: "function_call" }>, ref: ItemRef): StreamEvent[] {
  return [
    ...splitIntoChunks(item.arguments).map((delta) => ({
      type: "response.function_call_arguments.delta",
      ...ref,
      delta,
    })),
    { type: "response.function_call_arguments.done", ...ref, arguments: item.arguments },
  ];
}
