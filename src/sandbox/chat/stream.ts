import { isObject, type JsonObject } from "../../core/json.ts";
import type { Switches } from "../switches.ts";
import type { BilledTokens } from "../tally.ts";
import { composeTimings, composeUsage } from "./usage.ts";
import { DONE, placeUsage, type Chunk, type StreamItem } from "./usage-placement.ts";

const FAULT = {
  error: {
    message: "The server had an error while processing your request. Sorry about that!",
    type: "server_error",
    param: null,
    code: null,
  },
};

/** A stream that is to be written. */
interface ChoiceStream {
  /** All content, in order. The last chunk has the last choice's finish reason. */
  chunks: readonly Chunk[];
  billed: BilledTokens;
  /** Whether the client asked for usage. */
  isAsked: boolean;
}

/** Returns the events of a stream, with usage where the switches want it. */
export function writeStream(stream: ChoiceStream, switches: Readonly<Switches>): string[] {
  const items = composeItems(stream, switches);
  const sent = switches.errorEvent ? [...items.slice(0, countOpening(stream.chunks)), FAULT] : items;
  return sent
    .filter((item) => !(switches.noDone && item === DONE))
    .map((item) => `data: ${item === DONE ? DONE : JSON.stringify(item)}\n\n`);
}

/** Merges the pieces of several choices into one order: the first pieces of all, then the second ones, and so on. */
export function interleave<T>(choices: readonly (readonly T[])[]): T[] {
  const rounds = Math.max(...choices.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, at) =>
    choices.flatMap((pieces) => pieces.slice(at, at + 1)),
  ).flat();
}

function composeItems({ chunks, billed, isAsked }: ChoiceStream, switches: Readonly<Switches>): StreamItem[] {
  if (switches.noUsage) return [...chunks, DONE];
  return placeUsage(switches.usage, chunks, {
    usage: composeUsage(billed, switches),
    usageAfter: (sent, all) => composeUsage(billedAfter(billed, sent / all), switches),
    timings: composeTimings(billed),
    isAsked,
  });
}

/** Returns what is billed when this share of the output is sent: the input is known from the start, reasoning comes first. */
function billedAfter(billed: BilledTokens, share: number): BilledTokens {
  const output = Math.ceil(billed.output * share);
  return { ...billed, output, reasoning: Math.min(billed.reasoning, output) };
}

/** Returns how many chunks a stream has up to its first piece of content, and without its last one if it has none. */
function countOpening(chunks: readonly Chunk[]): number {
  const first = chunks.findIndex(({ choices }) => choices.some(hasContent));
  return first === -1 ? chunks.length - 1 : first + 1;
}

/** True for a choice with a piece of text, of a refusal or of a tool call. */
function hasContent({ text, delta }: JsonObject): boolean {
  const piece = isObject(delta) ? (delta["content"] ?? delta["refusal"] ?? delta["tool_calls"]) : text;
  return piece !== undefined && piece !== null && piece !== "";
}
