import type { JsonObject } from "./json.ts";
import type { SandboxKey } from "./keys.ts";
import type { Switches } from "./switches.ts";
import type { Billed } from "./tally.ts";

/** A request that was let in: its key is known, its body is a JSON object. */
export interface Call {
  path: string;
  key: SandboxKey;
  /** Names of the models that the key's group allows. */
  models: readonly string[];
  /** Empty for a GET. */
  body: JsonObject;
  switches: Switches;
}

/** One event of a stream: the data's `type` is the event's name too. */
export interface StreamEvent extends JsonObject {
  type: string;
}

/** A successful answer: a JSON body, or a stream where one was asked for. `billed` is absent where nothing is. */
export type Reply = ({ body: JsonObject } | { events: StreamEvent[] }) & { billed?: Billed };

/**
 * A stream that breaks with `errors` right after its first piece of content; before its last event where it
 * has no content.
 */
export function breakStream(events: readonly StreamEvent[], errors: readonly StreamEvent[]): StreamEvent[] {
  const first = events.findIndex(({ type }) => type === "content_block_delta" || type.endsWith(".delta"));
  return [...events.slice(0, first === -1 ? -1 : first + 1), ...errors];
}
