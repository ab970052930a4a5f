import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { isObject, parseJson, type JsonObject } from "../core/json.ts";
import { FrameReader, OPCODE, type Frame } from "../core/websocket/frame-reader.ts";
import { writeClose, writeFrame, writeText } from "../core/websocket/write-frame.ts";
import type { ApiRequest, Call, RouteState, SandboxState } from "./api.ts";
import { ApiError, errorBody } from "./errors.ts";
import type { PendingResponse } from "./http/send-response.ts";
import { makeId } from "./ids.ts";
import { stringOrNull } from "./json.ts";
import type { Profile } from "./profiles.ts";
import { createOnSocket } from "./responses.ts";
import { ResponseStore } from "./responses/store.ts";

const ROUTE = "/responses";

/** What `response.steer` may have: OpenAI refuses anything else (https://developers.openai.com/api/docs/guides/steering). */
const STEER_MEMBERS: ReadonlySet<string> = new Set(["type", "previous_response_id", "input"]);

/** OpenAI closes a WebSocket at a message of so many bytes (docs/websocket.md). */
const MESSAGE_LIMIT = 16 * 1024 * 1024;

/** True for a handshake of a WebSocket where the service has one: OpenAI, with the Responses API (docs/websocket.md). */
export function isSocketPath({ method, headers }: IncomingMessage, path: string, profile: Profile): boolean {
  const isWebSocket = headers.upgrade?.toLowerCase() === "websocket" && method === "GET";
  const isThere = profile.vendor === "openai" && profile.routes[ROUTE] !== undefined;
  return (
    isWebSocket &&
    isThere &&
    path === `${profile.basePath}${ROUTE}` &&
    headers["sec-websocket-key"] !== undefined
  );
}

/** Accepts a handshake, and responds to the messages that follow. The switches of the handshake hold for each of them. */
export function serveSocket(
  call: Call,
  { response, headers }: PendingResponse,
  client: Pick<ApiRequest, "key" | "switches" | "models">,
  state: SandboxState,
): void {
  const { socket } = response;
  if (socket === null) return;
  response.detachSocket(socket);
  const accept = createHash("sha1")
    .update(`${call.request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64");
  const lines = Object.entries({ ...headers, "sec-websocket-accept": accept }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${lines.join("")}\r\n`,
  );
  new SandboxSocket(socket, call, client, state).listen();
}

/** An open WebSocket: the responses of a lane come one after the other, and lanes run side by side. */
class SandboxSocket {
  readonly #socket: Socket;
  readonly #call: Call;
  readonly #client: Pick<ApiRequest, "key" | "switches" | "models">;
  readonly #state: SandboxState;
  /** Keeps the responses that only this connection can continue. */
  readonly #routeState: RouteState;
  /** By `stream_id`: settles when the responses of the lane so far have been sent. */
  readonly #lanes = new Map<string | null, Promise<void>>();
  /** By the id of a response that runs: the input with which it was steered; null while it was not. */
  readonly #running = new Map<string, { input: unknown } | null>();
  readonly #gone = new AbortController();
  #payload: Buffer[] = [];
  #bytes = 0;
  /** Payload of a control frame, which may stand between those of a message, and is sent back. */
  #control: Buffer[] = [];

  constructor(
    socket: Socket,
    call: Call,
    client: Pick<ApiRequest, "key" | "switches" | "models">,
    state: SandboxState,
  ) {
    this.#socket = socket;
    this.#call = call;
    this.#client = client;
    this.#state = state;
    const { promptCache, responses, storage } = state.routeState;
    this.#routeState = { promptCache, storage, responses: new ResponseStore(responses) };
  }

  listen(): void {
    const reader = new FrameReader(true, {
      onFrame: (frame) => this.#onFrame(frame),
      onPayload: (bytes, frame) => this.#onPayload(bytes, frame),
      onFrameEnd: (frame) => this.#onFrameEnd(frame),
    });
    this.#socket.on("data", (chunk: Buffer) => {
      reader.feed(chunk);
      if (reader.fault !== null) this.#end(writeClose(1002, reader.fault));
    });
    this.#socket.once("end", () => this.#socket.end());
    this.#socket.once("close", () => this.#gone.abort());
  }

  #onFrame({ isControl, length }: Frame): void {
    if (isControl) this.#control = [];
    else if (this.#bytes + length >= MESSAGE_LIMIT) this.#end(writeClose(1009, "message too big"));
  }

  #onPayload(bytes: Buffer, { isControl }: Frame): void {
    if (isControl) this.#control.push(bytes);
    else {
      this.#payload.push(bytes);
      this.#bytes += bytes.length;
    }
  }

  #onFrameEnd({ opcode, isControl, isFinal }: Frame): void {
    if (this.#gone.signal.aborted) return;
    if (opcode === OPCODE.ping) this.#socket.write(writeFrame(OPCODE.pong, Buffer.concat(this.#control)));
    else if (opcode === OPCODE.close) this.#end(writeFrame(OPCODE.close, Buffer.concat(this.#control)));
    if (isControl || !isFinal) return;
    const text = Buffer.concat(this.#payload).toString();
    this.#payload = [];
    this.#bytes = 0;
    const message = parseJson(text);
    const body = isObject(message) ? message : {};
    if (body["type"] === "response.steer") {
      this.#steer(body);
      return;
    }
    const lane = stringOrNull(body["stream_id"]);
    const before = this.#lanes.get(lane) ?? Promise.resolve();
    this.#lanes.set(
      lane,
      before.then(() => this.#respond(body, lane)).catch(() => void this.#socket.destroy()),
    );
  }

  /** The response that runs ends, and a successor with the new input follows in its lane. */
  #steer(body: JsonObject): void {
    const id = stringOrNull(body["previous_response_id"]) ?? "";
    const { input } = body;
    const steer = { id: makeId("steer"), previous_response_id: id };
    const isInput = typeof input === "string" || (Array.isArray(input) && input.length > 0);
    const isValid = isInput && Object.keys(body).every((name) => STEER_MEMBERS.has(name));
    if (isValid && this.#running.get(id) === null) {
      this.#running.set(id, { input });
      this.#send({ type: "response.steer.accepted", steer }, null);
      return;
    }
    const error = isValid
      ? { code: "response_not_found", message: `No response with id '${id}' runs on this WebSocket.` }
      : { code: "invalid_input", message: "A steer has the members type, previous_response_id and input." };
    this.#send({ type: "response.steer.failed", steer: { ...steer, input }, error }, null);
  }

  async #respond(body: JsonObject, lane: string | null): Promise<void> {
    const requestId = makeId("req");
    try {
      await this.#create(body, lane, requestId);
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      const { status } = error;
      this.#send({ type: "error", status, ...errorBody("openai", error, requestId) }, lane);
    }
  }

  async #create(body: JsonObject, lane: string | null, requestId: string): Promise<void> {
    if (body["type"] !== "response.create")
      throw new ApiError(400, "the sandbox only takes messages of type response.create");
    const { key, switches } = this.#client;
    const { path, query, vendor } = this.#call;
    const { profile, tally, routeState } = this.#state;
    const request = { path, query, profile, vendor, body, ...this.#client };
    const { events, billed } = createOnSocket(request, this.#routeState, routeState.responses);
    const model = stringOrNull(body["model"]);
    tally.addExecution({ requestId, clientRequestId: null, key: key.name, route: ROUTE, model });
    if (billed !== undefined) tally.addBilled(key.name, ROUTE, billed);
    if (switches.hang) return;
    const id = idOf(events[0]);
    this.#running.set(id, null);
    for (const event of steerable(events.slice(0, switches.cutAfter ?? events.length), () =>
      this.#running.get(id),
    )) {
      this.#send(event, lane);
      await wait(switches.paceMs, undefined, { signal: this.#gone.signal });
    }
    const steered = this.#running.get(id) ?? null;
    this.#running.delete(id);
    if (switches.reset) this.#socket.resetAndDestroy();
    else if (switches.cutAfter !== null) this.#socket.destroySoon();
    else if (steered !== null)
      await this.#create({ ...body, input: steered.input, previous_response_id: id }, lane, makeId("req"));
  }

  #send(event: JsonObject, lane: string | null): void {
    this.#socket.write(writeText(JSON.stringify(lane === null ? event : { ...event, stream_id: lane })));
  }

  #end(frame: Buffer): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort();
    this.#socket.end(frame);
  }
}

/** Yields the events of a response. Once it is steered, the last one follows at once, with what has been billed. */
function* steerable(events: readonly JsonObject[], findSteer: () => unknown): Generator<JsonObject> {
  const last = events.at(-1);
  for (const event of events) {
    if (event !== last && findSteer() !== null && isObject(last?.["response"])) {
      const response = {
        ...last["response"],
        status: "incomplete",
        incomplete_details: { reason: "steered" },
      };
      yield { type: "response.incomplete", response, sequence_number: event["sequence_number"] };
      return;
    }
    yield event;
  }
}

function idOf(created: JsonObject | undefined): string {
  const response = created?.["response"];
  return isObject(response) ? (stringOrNull(response["id"]) ?? "") : "";
}
