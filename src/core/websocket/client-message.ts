import { MESSAGE_IDS, METADATA_CHARACTERS, type MessageIds } from "../identity/agent.ts";
import type { JsonObject } from "../json.ts";
import { ModelReader } from "../policy/model-reader.ts";
import { JsonScanner, type Selection } from "../usage/json/json-scanner.ts";
import { asObject, asText } from "../usage/fields.ts";
import type { SetupModel } from "./live-message.ts";

/** The message that asks for a response (docs/websocket.md). */
const CREATE = "response.create";

/** The message that changes a response which runs: the service creates a successor, which no message asks for. */
const STEER = "response.steer";

/** Messages about a response that another one has asked for: they name it, and no model. */
const FOLLOWING: ReadonlySet<string> = new Set([STEER, "response.inject", "response.processed"]);

/** Messages after which no response begins. */
const QUIET: ReadonlySet<string> = new Set(["response.inject", "response.processed"]);

/** What a message of a client says of itself. */
export interface MessageFacts {
  /** Why it is refused, whatever rules there are; null for any other. */
  fault: string | null;
  /** The model of a message that names it for all that follow; null for any other. */
  setup: SetupModel | null;
  /** True if it belongs to a turn that has been judged: only pauses and tokens can still refuse it. */
  isJoined: boolean;
  /** True if it has the results of tools, for which a turn waits. */
  answersTools: boolean;
  /** `stream_id`: the lane in which it belongs. "" for the lane without a name. */
  lane: string;
  /** True if it asks for a response. */
  isCreate: boolean;
  /** True if a response may begin after it that it does not ask for: a steer, and whatever is not known. */
  mayBegin: boolean;
  /** True if a brake judges it by how many requests run at once. What follows a response that runs here has the place of that one. */
  needsPlace: boolean;
  /** The response that it is about, in a message about one; null in any other. */
  follows: string | null;
  /** The response that it continues, if it asks for one; null without one. */
  continues: string | null;
  /** True if it steers the response that it is about. */
  isSteer: boolean;
  /** True if it asks for a response that is only prepared (`generate: false`). */
  isWarmup: boolean;
  /** The client's ids of its session and agent, which may be others in each message; null without any. */
  ids: MessageIds | null;
}

const METADATA = Object.fromEntries(
  MESSAGE_IDS.map((name) => [name, name === "x-codex-turn-metadata" ? METADATA_CHARACTERS : 1024]),
);

const MEMBERS: Selection = {
  type: 64,
  stream_id: 1024,
  previous_response_id: 1024,
  response_id: 1024,
  generate: 16,
  client_metadata: METADATA,
};

/** Reads what kind of message it is. Where rules depend on that, see {@link findUncertainty}. */
export function readMessage(payload: readonly Buffer[]): MessageFacts {
  const json = new JsonScanner(MEMBERS);
  for (const bytes of payload) json.feed(bytes);
  const fields = json.isComplete ? asObject(json.fields) : {};
  const type = asText(fields["type"]);
  const named = asText(fields["previous_response_id"]) ?? asText(fields["response_id"]);
  return {
    fault: null,
    setup: null,
    isJoined: false,
    answersTools: false,
    lane: asText(fields["stream_id"]) ?? "",
    isCreate: type === CREATE,
    mayBegin: type === null || (type !== CREATE && !QUIET.has(type)),
    needsPlace: type === null || !QUIET.has(type),
    continues: type === CREATE ? named : null,
    isSteer: type === STEER,
    follows: type !== null && FOLLOWING.has(type) ? named : null,
    isWarmup: type === CREATE && fields["generate"] === false,
    ids: readIds(asObject(fields["client_metadata"])),
  };
}

function readIds(metadata: JsonObject): MessageIds | null {
  let ids: Partial<Record<string, string>> | null = null;
  for (const name of MESSAGE_IDS) {
    const value = asText(metadata[name]);
    if (value !== null) (ids ??= {})[name] = value;
  }
  return ids;
}

/** Says why decoders could read different types in a message; null where they cannot. */
export function findUncertainty(payload: readonly Buffer[]): string | null {
  return readMember(payload, new ModelReader(null, "type"));
}

/** What is known of a message's model: as `BodyFacts.reader` in `decide`. */
interface ReadModel {
  fault: string | null;
  place: ModelReader["place"];
}

/** Reads the model of a message to its end, so that no other can follow. `only` as for {@link ModelReader}. */
export function readModel(payload: readonly Buffer[], only: readonly string[] | null): ReadModel {
  const reader = new ModelReader(only);
  const fault = readMember(payload, reader);
  return { fault, place: fault === null ? reader.place : null };
}

function readMember(payload: readonly Buffer[], reader: ModelReader): string | null {
  for (const bytes of payload) reader.feed(bytes);
  return reader.finish();
}
