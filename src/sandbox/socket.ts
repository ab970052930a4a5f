import type { IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { LIVE_ROUTE, readLivePath } from "../core/http/gemini/live-path.ts";
import { isObject, parseJson, type JsonObject } from "../core/json.ts";
import { writeText } from "../core/websocket/write-frame.ts";
import type { Call, RouteState, SandboxState, SocketClient } from "./api.ts";
import { ApiError, errorBody } from "./errors.ts";
import { serveLive } from "./gemini/live.ts";
import type { PendingResponse } from "./http/send-response.ts";
import { makeId } from "./ids.ts";
import { stringOrNull } from "./json.ts";
import type { AuthScheme } from "./keys.ts";
import type { Profile } from "./profiles.ts";
import { createOnSocket } from "./responses.ts";
import { ResponseStore } from "./responses/store.ts";
import { acceptHandshake, MessageSocket } from "./socket/message-socket.ts";

const ROUTE = "/responses";

/** What `response.steer` may have: OpenAI refuses anything else (https://developers.openai.com/api/docs/guides/steering). */
const STEER_MEMBERS: ReadonlySet<string> = new Set(["type", "previous_response_id", "input"]);

/** A route that a WebSocket carries the requests of. */
interface SocketRoute {
  path: string;
  scheme: AuthScheme;
  /** Accepts the handshake, and responds to the messages that follow. Its switches hold for each of them. */
  serve: (call: Call, pending: PendingResponse, client: SocketClient, state: SandboxState) => void;
}

/**
 * Returns what a handshake of a WebSocket is for, where the service has one: OpenAI with the Responses API, and Google with its Live API
 * (docs/websocket.md). @throws ApiError 426 for any other: on that Codex falls back to POST at once, and elsewhere only after many retries
 */
export function findSocket(
  { method, headers }: IncomingMessage,
  path: string,
  { vendor, basePath, routes }: Profile,
): SocketRoute {
  const isWebSocket = headers.upgrade?.toLowerCase() === "websocket" && method === "GET";
  if (isWebSocket && headers["sec-websocket-key"] !== undefined) {
    const { [ROUTE]: responses, [LIVE_ROUTE]: live } = routes;
    if (vendor === "openai" && responses !== undefined && path === basePath + ROUTE)
      return { path: ROUTE, scheme: responses, serve: serveResponses };
    if (live !== undefined && isGeminiPath(path)) return { path: LIVE_ROUTE, scheme: live, serve: serveLive };
  }
  throw new ApiError(426, "the sandbox has no WebSocket here");
}

/** True for the Gemini API's own path, with a key: Vertex has another one, and so have tokens for browsers. */
function isGeminiPath(path: string): boolean {
  return path.startsWith("/ws/google.ai.") && readLivePath(path) === path;
}

function serveResponses(
  call: Call,
  pending: PendingResponse,
  client: SocketClient,
  state: SandboxState,
): void {
  const socket = acceptHandshake(call, pending);
  if (socket !== null) new ResponsesSocket(new MessageSocket(socket), call, client, state).listen();
}

/** A WebSocket of the Responses API: the responses of a lane come one after the other, and lanes run side by side. */
class ResponsesSocket {
  readonly #socket: MessageSocket;
  readonly #call: Call;
  readonly #client: SocketClient;
  readonly #state: SandboxState;
  /** Keeps the responses that only this connection can continue. */
  readonly #routeState: RouteState;
  /** By `stream_id`: settles when the responses of the lane so far have been sent. */
  readonly #lanes = new Map<string | null, Promise<void>>();
  /** By the id of a response that runs: the input with which it was steered; null while it was not. */
  readonly #running = new Map<string, { input: unknown } | null>();

  constructor(socket: MessageSocket, call: Call, client: SocketClient, state: SandboxState) {
    this.#socket = socket;
    this.#call = call;
    this.#client = client;
    this.#state = state;
    const { promptCache, responses, storage } = state.routeState;
    this.#routeState = { promptCache, storage, responses: new ResponseStore(responses) };
  }

  listen(): void {
    this.#socket.listen((text) => this.#onMessage(text));
  }

  #onMessage(text: string): void {
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
      before.then(() => this.#respond(body, lane)).catch(() => this.#socket.destroy()),
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
      if (this.#socket.gone.aborted) return;
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
      await wait(switches.paceMs, undefined, { signal: this.#socket.gone });
    }
    const steered = this.#running.get(id) ?? null;
    this.#running.delete(id);
    if (switches.reset || switches.cutAfter !== null) this.#socket.cut(switches.reset);
    else if (steered !== null)
      await this.#create({ ...body, input: steered.input, previous_response_id: id }, lane, makeId("req"));
  }

  #send(event: JsonObject, lane: string | null): void {
    this.#socket.write(writeText(JSON.stringify(lane === null ? event : { ...event, stream_id: lane })));
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
