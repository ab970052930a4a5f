import type { BodyFacts } from "../../core/decide/decision.ts";
import { estimateTokens } from "../../core/usage/estimate-tokens.ts";
import type { MessageFacts } from "../../core/websocket/client-message.ts";
import { readLiveMessage, type SetupModel } from "../../core/websocket/live-message.ts";
import type { LiveTurns } from "./live-turns.ts";
import type { MessageReader } from "./protocol.ts";

/** The turns as far as a message depends on them. */
type AskedTurns = Pick<LiveTurns, "isOpen" | "isExpected" | "hasPlace" | "contextTokens" | "expectNone">;

/** Reads the messages of the Live API. The first one names the model of all turns. */
export class LiveMessages implements MessageReader {
  readonly continues = true;
  readonly #turns: AskedTurns;
  #setup: SetupModel | null = null;
  /** Of the setup, which is part of each turn. */
  #setupTokens = 0;
  #contextTokens = 0;

  constructor(turns: AskedTurns) {
    this.#turns = turns;
  }

  get model(): string | null {
    return this.#setup?.model ?? null;
  }

  /** The conversation before the message that was read last, as far as the latest turn read and wrote it. */
  get contextTokens(): number {
    return this.#contextTokens;
  }

  /** What is said while a turn runs belongs to it. What ends the user's turn asks for another one, and is judged. */
  read(payload: readonly Buffer[]): MessageFacts {
    const { fault, setup, endsUserTurn, answersTools } = readLiveMessage(payload);
    this.#contextTokens = this.#turns.contextTokens ?? this.#setupTokens;
    const { isOpen, isExpected, hasPlace } = this.#turns;
    // It asks for the turn that what was said before could have caused: what is held for that must not count against it.
    if (endsUserTurn && !isOpen) this.#turns.expectNone();
    const isAwaited = isOpen || isExpected;
    const isFirst = this.#setup === null;
    if (isFirst && setup !== null) {
      this.#setup = setup;
      this.#setupTokens = estimateTokens(payload.reduce((sum, { length }) => sum + length, 0));
    }
    return {
      ...NO_RESPONSE,
      fault: fault ?? findMisplaced(isFirst, setup),
      setup,
      isJoined: setup === null && isAwaited && !endsUserTurn,
      answersTools,
      isCreate: endsUserTurn && !isOpen,
      needsPlace: setup !== null || !hasPlace,
      mayBegin: setup === null && (endsUserTurn ? isOpen : !isAwaited),
    };
  }

  readModel(): NonNullable<BodyFacts["reader"]> {
    const { model } = this;
    return model === null
      ? { fault: "no setup names a model", place: null }
      : { fault: null, place: { model, from: 0, to: 0 } };
  }

  /** What is not certain is refused, whatever rules there are. */
  findUncertainty(): null {
    return null;
  }
}

/** Of a message that is about no response of the Responses API. */
const NO_RESPONSE = {
  lane: "",
  continues: null,
  isSteer: false,
  follows: null,
  isWarmup: false,
  ids: null,
} as const;

/** A second setup could name another model (SECURITY.md C12). */
function findMisplaced(isFirst: boolean, setup: SetupModel | null): string | null {
  if (isFirst) return setup === null ? "the first message is no setup" : null;
  return setup === null ? null : "only the first message may be a setup";
}
