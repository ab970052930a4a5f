import { setTimeout as wait } from "node:timers/promises";
import { LIVE_ROUTE } from "../../core/http/gemini/live-path.ts";
import { withoutCollection } from "../../core/http/gemini/model-path.ts";
import { isObject, parseJson, type JsonObject } from "../../core/json.ts";
import { OPCODE } from "../../core/websocket/frame-reader.ts";
import { writeFrame } from "../../core/websocket/write-frame.ts";
import type { Call, SandboxState, SocketClient } from "../api.ts";
import { ApiError } from "../errors.ts";
import { bill } from "../gemini.ts";
import { composeCompletion, type Completion } from "../generation/completion.ts";
import { countTokens, splitIntoChunks, sumTokens } from "../generation/tokens.ts";
import type { PendingResponse } from "../http/send-response.ts";
import { makeId } from "../ids.ts";
import { pickObjects, stringOrNull } from "../json.ts";
import { requireModel } from "../models.ts";
import { acceptHandshake, MessageSocket } from "../socket/message-socket.ts";
import type { BilledTokens } from "../tally.ts";
import { readContentRequest } from "./request.ts";

/** A moment of silence. */
const SILENCE = { mimeType: "audio/pcm;rate=24000", data: "AAAA".repeat(200) };

/** Accepts a handshake of the Live API, and speaks with the client. */
export function serveLive(
  call: Call,
  pending: PendingResponse,
  client: SocketClient,
  state: SandboxState,
): void {
  const socket = acceptHandshake(call, pending);
  if (socket !== null) new LiveConversation(new MessageSocket(socket), client, state).listen();
}

/** A conversation over the Live API. Messages are taken one after the other: one that comes while the model speaks waits. */
class LiveConversation {
  readonly #socket: MessageSocket;
  readonly #client: SocketClient;
  readonly #state: SandboxState;
  #setup: JsonObject | null = null;
  #model = "";
  readonly #contents: JsonObject[] = [];
  /** Of all sound so far. */
  #soundTokens = 0;
  /** Of the sound since the last turn. */
  #newSoundTokens = 0;
  /** Of the calls of tools in the turn that waits for their results. */
  #callTokens = 0;
  #before: Promise<void> = Promise.resolve();

  constructor(socket: MessageSocket, client: SocketClient, state: SandboxState) {
    this.#socket = socket;
    this.#client = client;
    this.#state = state;
  }

  listen(): void {
    this.#socket.listen((text) => {
      this.#before = this.#before.then(() => this.#take(text)).catch((error: unknown) => this.#fail(error));
    });
  }

  async #take(text: string): Promise<void> {
    if (this.#socket.gone.aborted) return;
    const message = parseJson(text);
    const { setup, clientContent, realtimeInput, toolResponse } = isObject(message) ? message : {};
    if (this.#setup === null || setup !== undefined) this.#begin(setup);
    else if (isObject(clientContent)) {
      this.#contents.push(...pickObjects(clientContent["turns"]));
      if (clientContent["turnComplete"] === true) await this.#speak();
    } else if (isObject(realtimeInput)) {
      if (this.#hear(realtimeInput)) await this.#speak();
    } else if (isObject(toolResponse)) {
      const results = pickObjects(toolResponse["functionResponses"]);
      this.#contents.push({
        role: "user",
        parts: results.map((functionResponse) => ({ functionResponse })),
      });
      await this.#speak();
    } else throw new ApiError(400, "Request contains an invalid argument.");
  }

  #begin(setup: unknown): void {
    if (!isObject(setup) || this.#setup !== null)
      throw new ApiError(400, "setup must be the first message and only the first");
    const model = withoutCollection(stringOrNull(setup["model"]) ?? "");
    requireModel({ models: this.#client.models, vendor: "google" }, model);
    if (!model.includes("live"))
      throw new ApiError(404, `models/${model} is not supported for bidiGenerateContent.`);
    this.#setup = setup;
    this.#model = model;
    this.#send({ setupComplete: {} });
  }

  /** Takes a piece of what the user says. Returns true where the user's turn ends with it. */
  #hear({ text, audio, audioStreamEnd, activityEnd }: JsonObject): boolean {
    if (typeof text === "string") {
      this.#contents.push({ role: "user", parts: [{ text }] });
      return true;
    }
    if (isObject(audio)) this.#newSoundTokens += countTokens(stringOrNull(audio["data"]) ?? "");
    const hasEnded = audioStreamEnd === true || isObject(activityEnd);
    if (!hasEnded || this.#newSoundTokens === 0) return false;
    this.#contents.push({ role: "user", parts: [{ text: `${this.#newSoundTokens} tokens of sound` }] });
    this.#soundTokens += this.#newSoundTokens;
    this.#newSoundTokens = 0;
    return true;
  }

  /** One turn of the model, or what comes before its call of a tool. */
  async #speak(): Promise<void> {
    const { switches, key } = this.#client;
    const { tally } = this.#state;
    const request = readContentRequest({ ...this.#setup, contents: this.#contents });
    const completion = composeCompletion(request.prompt, request.maxTokens, switches);
    const { toolCall } = completion;
    const tokens = sumTokens(request.parts) + this.#soundTokens;
    const billed = bill(completion, { tokens, cached: 0 });
    this.#contents.push(contentOf(completion));
    if (toolCall !== null) {
      this.#callTokens += billed.output;
      const args = JSON.parse(toolCall.argumentsJson) as JsonObject;
      const functionCalls = [{ id: makeId("call"), name: toolCall.name, args }];
      if (!switches.hang) await this.#sendTurn([{ toolCall: { functionCalls } }]);
      return;
    }
    billed.output += this.#callTokens;
    this.#callTokens = 0;
    const requestId = makeId("req");
    tally.addExecution({
      requestId,
      clientRequestId: null,
      key: key.name,
      route: LIVE_ROUTE,
      model: this.#model,
    });
    tally.addBilled(key.name, LIVE_ROUTE, billed);
    if (!switches.hang) await this.#sendTurn(this.#composeTurn(completion, billed));
  }

  async #sendTurn(messages: readonly JsonObject[]): Promise<void> {
    const { reset, cutAfter, paceMs } = this.#client.switches;
    for (const message of messages.slice(0, cutAfter ?? messages.length)) {
      this.#send(message);
      await wait(paceMs, undefined, { signal: this.#socket.gone });
    }
    if (reset || cutAfter !== null) this.#socket.cut(reset);
  }

  #composeTurn({ reasoning, text, stop }: Completion, billed: BilledTokens): JsonObject[] {
    const isSound = !this.#modalities.includes("TEXT");
    const isTranscribed = isObject(this.#setup?.["outputAudioTranscription"]);
    const thoughts = splitIntoChunks(reasoning ?? "").map((piece) => ({ text: piece, thought: true }));
    const said = splitIntoChunks(text ?? "").flatMap((piece) => [
      ...(isSound && isTranscribed ? [{ outputTranscription: { text: piece } }] : []),
      { modelTurn: { parts: [isSound ? { inlineData: SILENCE } : { text: piece }] } },
    ]);
    const reason = stop === "refused" && { turnCompleteReason: "RESPONSE_REJECTED" };
    return [
      ...thoughts.map((part) => ({ serverContent: { modelTurn: { parts: [part] } } })),
      ...said.map((serverContent) => ({ serverContent })),
      { serverContent: { generationComplete: true } },
      {
        serverContent: { turnComplete: true, ...reason },
        ...(!this.#client.switches.noUsage && { usageMetadata: this.#usageOf(billed, isSound) }),
      },
    ];
  }

  /** As recorded: thoughts are beside the output, and the total leaves them out (docs/wire.md section 12). */
  #usageOf({ input_uncached: prompt, output, reasoning }: BilledTokens, isSound: boolean): JsonObject {
    const response = output - reasoning;
    const sound = this.#soundTokens;
    return {
      promptTokenCount: prompt,
      responseTokenCount: response,
      ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
      totalTokenCount: prompt + response,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: prompt - sound },
        ...(sound > 0 ? [{ modality: "AUDIO", tokenCount: sound }] : []),
      ],
      responseTokensDetails: [{ modality: isSound ? "AUDIO" : "TEXT", tokenCount: response }],
    };
  }

  /** Sound, where the setup names none. */
  get #modalities(): readonly unknown[] {
    const config = this.#setup?.["generationConfig"];
    const named = isObject(config) ? config["responseModalities"] : null;
    return Array.isArray(named) ? named : ["AUDIO"];
  }

  /** The Live API has no error message: it closes the WebSocket. */
  #fail(error: unknown): void {
    if (this.#socket.gone.aborted) return;
    if (error instanceof ApiError) this.#socket.close(error.status === 400 ? 1007 : 1008, error.message);
    else this.#socket.destroy();
  }

  /** Sends JSON in a binary frame, as Google does. */
  #send(message: JsonObject): void {
    this.#socket.write(writeFrame(OPCODE.binary, Buffer.from(`${JSON.stringify(message, null, 2)}\n`)));
  }
}

/** What the model says, as the next turn reads it again. */
function contentOf({ text, toolCall }: Completion): JsonObject {
  const part =
    toolCall === null
      ? { text: text ?? "" }
      : { functionCall: { name: toolCall.name, args: JSON.parse(toolCall.argumentsJson) as JsonObject } };
  return { role: "model", parts: [part] };
}
