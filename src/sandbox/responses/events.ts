import type { StreamEvent } from "../call.ts";
import { unfinished, type OutputItem, type ResponseObject } from "./response.ts";
import { splitInChunks } from "../tokens.ts";

/** A finished response as the recorded streams say it; its usage comes with the last event alone. */
export function responseEvents(response: ResponseObject): StreamEvent[] {
  return numbered([
    ...openingEvents(response),
    ...response.output.flatMap((item, index) => itemEvents(item, index)),
    { type: `response.${response.status}`, response },
  ]);
}

/** Gives every event its place in the stream. */
export function numbered(events: readonly StreamEvent[]): StreamEvent[] {
  return events.map((event, at) => ({ ...event, sequence_number: at }));
}

function openingEvents(response: ResponseObject): StreamEvent[] {
  const queued = unfinished(response, "queued");
  const begun = unfinished(response, "in_progress");
  const start: StreamEvent[] =
    response["background"] === true
      ? [
          { type: "response.created", response: queued },
          { type: "response.queued", response: queued },
        ]
      : [{ type: "response.created", response: begun }];
  return [...start, { type: "response.in_progress", response: begun }];
}

function itemEvents(item: OutputItem, index: number): StreamEvent[] {
  const { empty, content } = takeApart(item, { item_id: item.id, output_index: index });
  return [
    { type: "response.output_item.added", item: empty, output_index: index },
    ...content,
    { type: "response.output_item.done", item, output_index: index },
  ];
}

/** Where in the response an event belongs. */
interface Place {
  item_id: string;
  output_index: number;
}

/** An item as it is added, without content, and the events that fill it. */
function takeApart(item: OutputItem, place: Place): { empty: OutputItem; content: StreamEvent[] } {
  switch (item.type) {
    case "reasoning":
      return { empty: { ...item, summary: [] }, content: summaryEvents(item, place) };
    case "message":
      return { empty: { ...item, status: "in_progress", content: [] }, content: textEvents(item, place) };
    case "function_call":
      return { empty: { ...item, status: "in_progress", arguments: "" }, content: callEvents(item, place) };
  }
}

function summaryEvents(item: Extract<OutputItem, { type: "reasoning" }>, place: Place): StreamEvent[] {
  return item.summary.flatMap((part, index) => {
    const at = { ...place, summary_index: index };
    return [
      { type: "response.reasoning_summary_part.added", ...at, part: { ...part, text: "" } },
      ...splitInChunks(part.text).map((delta) => ({
        type: "response.reasoning_summary_text.delta",
        ...at,
        delta,
      })),
      { type: "response.reasoning_summary_text.done", ...at, text: part.text },
      { type: "response.reasoning_summary_part.done", ...at, part },
    ];
  });
}

function textEvents(item: Extract<OutputItem, { type: "message" }>, place: Place): StreamEvent[] {
  const { item_id, output_index } = place;
  return item.content.flatMap((part, content_index) => [
    {
      type: "response.content_part.added",
      content_index,
      item_id,
      output_index,
      part: { ...part, text: "" },
    },
    ...splitInChunks(part.text).map((delta) => ({
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
      // Set by `numbered`; the recordings have it before the text.
      sequence_number: 0,
      text: part.text,
    },
    { type: "response.content_part.done", content_index, item_id, output_index, part },
  ]);
}

function callEvents(item: Extract<OutputItem, { type: "function_call" }>, place: Place): StreamEvent[] {
  return [
    ...splitInChunks(item.arguments).map((delta) => ({
      type: "response.function_call_arguments.delta",
      ...place,
      delta,
    })),
    { type: "response.function_call_arguments.done", ...place, arguments: item.arguments },
  ];
}
