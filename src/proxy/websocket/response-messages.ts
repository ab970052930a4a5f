import type { BodyFacts } from "../../core/decide/decision.ts";
import {
  findUncertainty,
  readMessage,
  readModel,
  type MessageFacts,
} from "../../core/websocket/client-message.ts";
import type { MessageReader } from "./protocol.ts";
import type { Turns } from "./turns.ts";

/** The most ids of responses, each with its model, that a WebSocket remembers. */
const MOST_MODELS = 1_000;

/** Reads the messages of the Responses API, each of which has its model, or is about a response that has one. */
export class ResponseMessages implements MessageReader {
  readonly model = null;
  readonly continues = false;
  readonly contextTokens = 0;
  /** By the ids of responses: the models that were requested. */
  readonly #models = new Map<string, string>();
  readonly #turns: Pick<Turns, "isRunning">;

  constructor(turns: Pick<Turns, "isRunning">) {
    this.#turns = turns;
  }

  /** Remembers which model a response has. */
  remember(id: string, model: string | null): void {
    if (model === null || this.#models.has(id)) return;
    this.#models.set(id, model);
    for (const oldest of this.#models.keys()) {
      if (this.#models.size <= MOST_MODELS) break;
      this.#models.delete(oldest);
    }
  }

  read(payload: readonly Buffer[]): MessageFacts {
    const facts = readMessage(payload);
    const { isSteer, follows } = facts;
    // The service ends the response that is steered, and then begins its successor.
    const replaces = isSteer && follows !== null && this.#turns.isRunning(follows);
    return replaces ? { ...facts, needsPlace: false } : facts;
  }

  findUncertainty(payload: readonly Buffer[]): string | null {
    return findUncertainty(payload);
  }

  /** A message about a response has the model of that. */
  readModel(
    payload: readonly Buffer[],
    { follows }: MessageFacts,
    only: readonly string[] | null,
  ): NonNullable<BodyFacts["reader"]> {
    const read = readModel(payload, only);
    const model = follows === null ? null : (this.#models.get(follows) ?? null);
    if (model === null || read.fault === null || !read.fault.endsWith("names no model")) return read;
    return { ...read, fault: null, place: { model, from: 0, to: 0 } };
  }
}
