import { isObject, parseJson, type JsonObject } from "../json.ts";
import { readPieces, textOf, toList, type Piece } from "./content.ts";

/** A response, put together from its events. */
interface ReadResponse {
  pieces: Piece[];
  /** How many events it came in; null for one that came as a whole. */
  events: number | null;
  /** Why the model stopped, as the service says it; null where it does not. */
  stop: string | null;
}

/** Reads the body of a response: JSON, an event stream, or one event a line. null for a body that is none of them. */
export function readResponse(body: string): ReadResponse | null {
  const whole = parseJson(body);
  if (isObject(whole)) return assemble([whole], null);
  const events = Array.isArray(whole) ? whole.filter(isObject) : readEvents(body);
  return events.length === 0 ? null : assemble(events, events.length);
}

/** Returns the data of each event (HTML, "Server-sent events"), or of each line on a WebSocket. */
function readEvents(body: string): JsonObject[] {
  return body.split(/\r\n|\r|\n/).flatMap((line) => {
    const event = parseJson(line.replace(/^data:\s?/, ""));
    return isObject(event) ? [event] : [];
  });
}

function assemble(events: readonly JsonObject[], count: number | null): ReadResponse {
  const assembly = new Assembly();
  for (const event of events) assembly.add(event);
  return { ...assembly.finish(), events: count };
}

/** A piece that grows with its events. */
interface Growing {
  kind: string;
  name: string;
  text: string;
}

/** Puts a response together, of whichever API its events are. */
class Assembly {
  readonly #growing = new Map<string, Growing>();
  /** What came as a whole: it counts instead of what has grown. */
  #whole: unknown[] | null = null;
  #stop: string | null = null;

  add(event: JsonObject): void {
    const { type } = event;
    if (typeof type === "string" && type.startsWith("response.")) this.#addOfResponses(type, event);
    else if (isObject(event["response"]) || Array.isArray(event["output"])) this.#takeResponse(event);
    else if (Array.isArray(event["choices"])) this.#addChoices(event["choices"]);
    else if (Array.isArray(event["candidates"])) this.#addCandidates(event["candidates"]);
    else if (Array.isArray(event["content"])) this.#takeMessage(event);
    else this.#addOfMessages(event);
  }

  finish(): Pick<ReadResponse, "pieces" | "stop"> {
    const grown = [...this.#growing.values()].map(({ kind, name, text }) => {
      const shown = kind === "call" ? `${name} ${text}`.trimEnd() : text;
      return { kind, text: shown, bytes: Buffer.byteLength(shown) };
    });
    return { pieces: this.#whole === null ? grown : readPieces(this.#whole), stop: this.#stop };
  }

  #grow(key: string, kind: string, name: unknown, text: unknown): void {
    const known = this.#growing.get(key) ?? { kind, name: "", text: "" };
    this.#growing.set(key, { ...known, name: known.name + textOf(name), text: known.text + textOf(text) });
  }

  // The Messages API.

  #takeMessage(message: JsonObject): void {
    this.#whole = toList(message["content"]);
    this.#stopBy(message["stop_reason"]);
  }

  #addOfMessages(event: JsonObject): void {
    const key = `block ${textOf(event["index"])}`;
    const block = event["content_block"];
    const delta = event["delta"];
    if (event["type"] === "content_block_start" && isObject(block)) {
      const [piece] = readPieces([block]);
      const isCall = piece?.kind === "call";
      this.#grow(key, piece?.kind ?? "", isCall ? block["name"] : "", isCall ? "" : piece?.text);
    } else if (event["type"] === "content_block_delta" && isObject(delta))
      this.#grow(key, "text", "", delta["text"] ?? delta["thinking"] ?? delta["partial_json"]);
    else if (isObject(delta)) this.#stopBy(delta["stop_reason"]);
  }

  // The Responses API.

  #addOfResponses(type: string, event: JsonObject): void {
    const key = `item ${textOf(event["output_index"])}`;
    const { item } = event;
    if (type === "response.output_item.added" && isObject(item)) {
      const [piece] = readPieces([item]);
      this.#grow(key, piece?.kind === "message" ? "text" : (piece?.kind ?? ""), item["name"], "");
    } else if (type.endsWith(".delta")) this.#grow(key, "text", "", event["delta"]);
    if (isObject(event["response"])) this.#takeResponse(event["response"]);
  }

  #takeResponse(response: JsonObject): void {
    const output = toList(response["output"]);
    if (output.length > 0)
      this.#whole = output.flatMap((item) =>
        isObject(item) && item["type"] === "message" ? toList(item["content"]) : [item],
      );
    const details = response["incomplete_details"];
    this.#stopBy(isObject(details) ? details["reason"] : response["status"]);
  }

  // Chat Completions.

  #addChoices(choices: readonly unknown[]): void {
    for (const [at, choice] of choices.filter(isObject).entries()) {
      const delta = [choice["delta"], choice["message"]].find(isObject) ?? {};
      const key = `choice ${textOf(choice["index"] ?? at)}`;
      const reasoning = delta["reasoning_content"] ?? delta["reasoning"];
      if (typeof reasoning === "string" && reasoning !== "")
        this.#grow(`${key} thinking`, "thinking", "", reasoning);
      const text = delta["content"] ?? choice["text"];
      if (typeof text === "string" && text !== "") this.#grow(key, "text", "", text);
      for (const [place, call] of toList(delta["tool_calls"]).filter(isObject).entries()) {
        const called = isObject(call["function"]) ? call["function"] : {};
        const callKey = `${key} call ${textOf(call["index"] ?? place)}`;
        this.#grow(callKey, "call", called["name"], called["arguments"]);
      }
      this.#stopBy(choice["finish_reason"]);
    }
  }

  // Google's API.

  #addCandidates(candidates: readonly unknown[]): void {
    for (const [at, candidate] of candidates.filter(isObject).entries()) {
      const content = isObject(candidate["content"]) ? candidate["content"] : {};
      for (const piece of readPieces(content["parts"]))
        this.#grow(
          piece.kind === "call" ? `call ${this.#growing.size}` : `${piece.kind} ${at}`,
          piece.kind,
          piece.kind === "call" ? piece.text : "",
          piece.kind === "call" ? "" : piece.text,
        );
      this.#stopBy(candidate["finishReason"]);
    }
  }

  #stopBy(reason: unknown): void {
    if (typeof reason === "string") this.#stop = reason;
  }
}
