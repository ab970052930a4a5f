import { isObject, type JsonObject } from "../../json.ts";
import { asObject } from "../fields.ts";
import { GROUNDING } from "./searches.ts";
import { isCounting } from "./usage.ts";
import { TEXT, type Selection } from "../json/json-scanner.ts";
import { EventReader, type SocketEvent } from "../socket-events.ts";
import { TEXT_BYTES, USAGE_BYTES } from "../usage-format.ts";

const FLAG_BYTES = 8;

/** What is read of a message of the service (npm `@google/genai`, `LiveServerMessage`). */
const MESSAGE: Selection = {
  serverContent: {
    modelTurn: { parts: [{ text: TEXT }] },
    outputTranscription: { text: TEXT },
    groundingMetadata: GROUNDING,
    interrupted: FLAG_BYTES,
    turnComplete: FLAG_BYTES,
    turnCompleteReason: TEXT_BYTES,
  },
  toolCall: {},
  toolCallCancellation: {},
  usageMetadata: USAGE_BYTES,
};

/** What a message of the Live API says of a turn. */
interface LiveFacts {
  /** True for output of the model: a turn is under way. A transcript may come after the end of its turn, and opens none. */
  opensTurn: boolean;
  /** True for output, its transcript, and usage. */
  isOfTurn: boolean;
  /** True where the model waits for the results of tools. */
  isToolCall: boolean;
  /** True where it no longer does, because the user has interrupted it. */
  cancelsTools: boolean;
  hasUsage: boolean;
}

/** Reads what a message says of a turn. */
export function readLiveFacts({ fields, isContent }: SocketEvent): LiveFacts {
  const isToolCall = isObject(fields["toolCall"]);
  const hasUsage = isCounting(asObject(fields["usageMetadata"]));
  const opensTurn = isToolCall || isObject(asObject(fields["serverContent"])["modelTurn"]);
  const isOfTurn = isContent || isToolCall || hasUsage;
  const cancelsTools = isObject(fields["toolCallCancellation"]);
  return { opensTurn, isOfTurn, isToolCall, cancelsTools, hasUsage };
}

/** Reads the messages of the Live API. Google sends them in binary frames. */
export class LiveEvents extends EventReader {
  readonly readsBinary = true;

  constructor() {
    super(MESSAGE);
  }

  protected override read(fields: JsonObject, textTokens: number): SocketEvent {
    const content = asObject(fields["serverContent"]);
    return {
      type: "",
      fields,
      lane: "",
      responseId: null,
      previousId: null,
      steeredId: null,
      isTerminal: content["turnComplete"] === true,
      isContent: isObject(content["modelTurn"]) || isObject(content["outputTranscription"]),
      textTokens,
    };
  }
}
