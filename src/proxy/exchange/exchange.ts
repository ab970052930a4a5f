import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { keepReservation } from "../../core/budget/kept-reservation.ts";
import { storedId, type Choice } from "../../core/decide/choose-upstream.ts";
import type { AskedRequest, Chosen } from "../../core/decide/decision.ts";
import type { PlanDestination, RoundTripLimits, Settings } from "../../core/decide/settings.ts";
import { readTraceparent } from "../../core/export/trace-context.ts";
import { firstByteLimitMs } from "../../core/http/client-timeout.ts";
import type { HeaderIndex } from "../../core/http/header-index.ts";
import type { OwnAddress } from "../../core/http/gemini/own-links.ts";
import type { AgentFacts } from "../../core/identity/agent-facts.ts";
import { RECORD_VERSION, type CutBy, type UsageRecord } from "../../core/ledger/record.ts";
import { asExtra } from "../../core/plans/names.ts";
import type { Plan } from "../../core/plans/plans.ts";
import type { RefusalCode } from "../../core/refusals/refusal.ts";
import {
  answeredBy,
  type Asking,
  type Conversations,
  type RunningRequest,
} from "../../core/misses/conversations.ts";
import type { Hashing } from "../../core/misses/part-hasher.ts";
import type { Dialect, MeterReading } from "../../core/usage/reading.ts";
import { chargeFilms } from "../../core/usage/gemini/film-scanner.ts";
import { createPathScanner } from "../../core/usage/gemini/path-scanner.ts";
import { createRequestScanner, type RequestScanner } from "../../core/usage/request-scanner.ts";
import { createFormScanner } from "../../core/usage/form-scanner.ts";
import { createReading } from "../../core/usage/usage-format.ts";
import type { Captures, RequestHold, Clock, Ledger, Tap } from "../../ports.ts";
import type { ClientIdentity } from "../client/identity.ts";
import type { RecordBatch } from "./record-batch.ts";
import type { RunningExchanges } from "./running-exchanges.ts";

/** A first note is taken this much early, so that it is still in time when its timer fires late. */
const NOTE_AHEAD_MS = 200;
/** How often the note of an exchange is renewed. */
const NOTE_INTERVAL_MS = 60_000;

/** A request as it arrived, and who sent it. */
export interface ClientRequest extends AskedRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly client: ClientIdentity;
  /** Those in force when it arrived. */
  readonly settings: Settings;
  /** When it arrived, if that was before now: something had to be waited for. */
  arrival: Arrival | null;
}

/** One of the upstreams that a request is sent to, one after the other. */
export interface Attempt {
  readonly choice: Choice;
  /** What is held for it until it is recorded; null where neither a budget nor a brake is for it. */
  readonly hold: RequestHold | null;
  /** The first attempt, and what is left of the limit for the first byte in milliseconds; null for the first itself. */
  readonly after: { first: Exchange; firstByteMs: number } | null;
}

/** When a request arrived, in milliseconds: since 1970, and by the monotonic clock. */
interface Arrival {
  at: number;
  tick: number;
}

/** Returns the present as an arrival. */
export function readArrival(clock: Clock): Arrival {
  return { at: clock.now(), tick: clock.monotonic() };
}

/** What became of a response, and how many bytes of its body the client got. */
export interface ReadResponse {
  reading: MeterReading;
  bytesOut: number;
}

/** A round trip as its exchange sees it. */
interface RunningRoundTrip {
  /** Returns what was learned of the response so far, as if it ended now; null before there is one. */
  readSoFar(): ReadResponse | null;
  /** Ends it now, and records its exchange. */
  abort(): void;
}

/** Where exchanges are kept while they run, and recorded when they end. */
export interface Books {
  /** Takes notes of those that run. */
  ledger: Ledger;
  /** Takes the records of those that end. */
  batch: RecordBatch;
  running: RunningExchanges;
  captures: Captures;
  /** Tells the accounts of plans apart, and what is charged beyond one. */
  accounts: {
    learn(
      plan: Pick<PlanDestination, "plan" | "key">,
      request: HeaderIndex,
      response: HeaderIndex,
    ): string | null;
    seeExtra(plan: Plan, account: string, response: HeaderIndex, now: number): boolean;
  };
  /** What requests had in the provider's cache. */
  conversations: Conversations;
  clock: Clock;
}

/**
 * One attempt at a request, from the gate to the ledger: what is known of it, which all that handle it read here. Leaves exactly one
 * record, however it ends.
 */
export class Exchange {
  /** Kept by `RunningExchanges`. */
  position = 0;
  readonly received: ClientRequest;
  readonly choice: Choice;
  readonly limits: RoundTripLimits;
  /** Takes a copy; null unless a person has asked for one. */
  readonly tap: Tap | null;
  readonly #chosen: Chosen;
  readonly #attempt: Attempt;
  readonly #books: Books;
  readonly #arrival: Arrival;
  /** null for a body that cannot be read: a compressed one is forwarded unread. */
  readonly #scan: RequestScanner | null;
  /** Its request to the upstream; null before that is sent. */
  #roundTrip: RunningRoundTrip | null = null;
  #bytesIn = 0;
  #status: number | null = null;
  /** True when the response is an event stream; null before there is a response. */
  #streamed: boolean | null = null;
  #upstreamRequestId: string | null = null;
  /** The account of the plan, where a response has said which one it is. */
  #account: string | null = null;
  /** True where the service charges for it as use beyond the plan; what is expected, before there is a response. */
  #isExtra: boolean;
  #ttftMs: number | null = null;
  /** The record's id. Made early for a note, and for another attempt. */
  #id: string | null = null;
  /** When it was last noted, by the monotonic clock; null before that. */
  #notedTick: number | null = null;
  /** True once a note was taken with the first content, which the input tokens precede. */
  #isContentNoted = false;
  #isRecorded = false;
  #branch: string | null = null;
  /** Which agent asked, once it was read. */
  #agent: AgentFacts | null = null;
  /** What it is among the requests of its conversation, once its body is complete; null where that is not of use. */
  #turn: RunningRequest | null = null;

  /** It is among `books.running` until it is recorded. */
  constructor(received: ClientRequest, chosen: Chosen, attempt: Attempt, books: Books) {
    const { settings, headers, client } = received;
    this.received = received;
    this.choice = attempt.choice;
    this.#isExtra = attempt.choice.plan !== null && attempt.choice.isExtra;
    this.#chosen = chosen;
    this.#attempt = attempt;
    this.#books = books;
    const { after } = attempt;
    if (after === null) {
      const firstByteMs = firstByteLimitMs(settings.limits.firstByteMs, headers);
      this.limits =
        firstByteMs === settings.limits.firstByteMs ? settings.limits : { ...settings.limits, firstByteMs };
      this.#arrival = received.arrival ?? readArrival(books.clock);
      const encoding = headers.get("content-encoding") ?? "identity";
      const isReadable = encoding === "identity" && attempt.choice.route.method === "POST";
      const isOfSession = client.session !== null && isConversation(attempt.choice.route.dialect);
      this.#scan = isReadable
        ? createScanner(received, isOfSession ? books.conversations.hashing : null)
        : null;
    } else {
      this.limits = { ...settings.limits, firstByteMs: after.firstByteMs };
      this.#arrival = readArrival(books.clock);
      this.#scan = after.first.#scan;
      this.#bytesIn = after.first.#bytesIn;
      this.#beginTurn();
    }
    this.tap = books.captures.isOn ? this.#openTap(after?.first ?? null) : null;
    books.running.add(this);
    if (settings.config.ledger.project) void this.#findBranch(client);
  }

  /** The request to the upstream begins. */
  begin(roundTrip: RunningRoundTrip): void {
    this.#roundTrip = roundTrip;
  }

  /** Bytes of the request's body so far. */
  get bytesIn(): number {
    return this.#bytesIn;
  }

  /** Scans a chunk of the request body that was sent to the upstream. */
  sawRequestBytes(chunk: Buffer): void {
    this.#bytesIn += chunk.length;
    this.#scan?.feed(chunk);
    this.tap?.sawRequestBytes(chunk);
    this.#beginTurn();
  }

  /** The head of the response has arrived. `streamed`: it is that of an event stream. */
  sawResponse(status: number, streamed: boolean, upstreamRequestId: string | null): void {
    this.#status = status;
    this.#streamed = streamed;
    this.#upstreamRequestId = upstreamRequestId;
    this.#turn?.begin();
  }

  /** Returns who pays, once the head of a response may have said which account of a plan that is. */
  findPayer(response: HeaderIndex): Pick<Choice, "upstream" | "key"> {
    const { choice } = this;
    if (choice.plan === null) return choice;
    const { accounts, clock } = this.#books;
    this.#account = accounts.learn(choice, this.received.headers, response);
    this.#isExtra = accounts.seeExtra(choice.plan, this.#account ?? choice.key.name, response, clock.now());
    return this.#account === null ? choice : { upstream: choice.upstream, key: { name: this.#account } };
  }

  /** Records the time to first token. Later calls do nothing. */
  sawFirstContent(): void {
    this.#ttftMs ??= this.#elapsedMs();
  }

  /** Where its client reaches us. */
  get ownAddress(): OwnAddress {
    const { headers, request } = this.received;
    return { host: headers.get("host") ?? "", mark: request.mark };
  }

  get isStream(): boolean {
    return this.#streamed === true;
  }

  get hasFirstContent(): boolean {
    return this.#ttftMs !== null;
  }

  /** The id of its record. */
  get id(): string {
    return (this.#id ??= randomUUID());
  }

  /** The model that the upstream is asked for, where that was read before it was chosen; else null. */
  get modelAsked(): string | null {
    return this.#chosen.alias ?? this.#chosen.model;
  }

  /** The tool as it was known when the request arrived. */
  get tool(): string {
    return this.received.client.tool;
  }

  /** How much was spent when it was admitted of the budget of which the most was, in percent; null where no budget is for it. */
  get budgetPercent(): number | null {
    return this.#attempt.hold?.percent ?? null;
  }

  /** Ends what it holds: it has done nothing, and another attempt follows. */
  releaseHold(): void {
    this.#attempt.hold?.release(null);
  }

  /** Records how the response ended. `cutBy` is for one that was cut. See {@link Exchange.recordCut} for `onRecorded`. */
  recordResponse({ reading, bytesOut }: ReadResponse, cutBy: CutBy, onRecorded: () => void): void {
    this.#record(reading, bytesOut, cutBy, onRecorded);
  }

  /**
   * Records that it was cut before there was a response. `onRecorded` is called once the record is written: at the end of this turn of
   * the event loop at the latest. If there is a record already, that stays, and `onRecorded` is called at once.
   */
  recordCut(errorType: string | null, cutBy: CutBy, onRecorded: () => void = ignore): void {
    this.#record(this.#unanswered("cut", errorType), 0, cutBy, onRecorded);
  }

  /**
   * Records a refusal of our own: `status` is null when no client got it. `cutBy` names the side that ended an attempt; null where the
   * request was rejected. See {@link Exchange.recordCut} for `onRecorded`.
   */
  recordRefusal(
    code: RefusalCode,
    status: number | null,
    cutBy: CutBy | null,
    onRecorded: () => void = ignore,
  ): void {
    if (!this.#isRecorded) this.#status = status;
    this.#record(this.#unanswered(cutBy === null ? "rejected" : "cut", code), 0, cutBy, onRecorded);
  }

  /** Ends it now from our side: the daemon stops. */
  abort(): void {
    if (this.#roundTrip !== null) this.#roundTrip.abort();
    else this.recordCut(null, "proxy");
  }

  get isNoted(): boolean {
    return this.#notedTick !== null;
  }

  /**
   * True when it is time for a note at `tick`, by the monotonic clock: after `ledger.noteAfterMs`, once more with the first
   * content, and then each minute.
   */
  isNoteDue(tick: number): boolean {
    if (this.#isRecorded) return false;
    if (this.#notedTick !== null) {
      if (this.hasFirstContent && !this.#isContentNoted) return true;
      return tick - this.#notedTick >= NOTE_INTERVAL_MS;
    }
    const { noteAfterMs } = this.received.settings.config.ledger;
    return tick - this.#arrival.tick >= noteAfterMs - NOTE_AHEAD_MS;
  }

  /** Notes it before it leaves if a budget has reserved something for it, so that a crash does not give that back (SECURITY.md E7). */
  noteReservation(): void {
    const { hold } = this.#attempt;
    if (hold !== null && hold.reserved !== null) this.#books.ledger.noteUnsent(this.soFar());
  }

  /** The ledger has noted what {@link soFar} returned. */
  onNoted(): void {
    this.#notedTick = this.#books.clock.monotonic();
    this.#isContentNoted = this.hasFirstContent;
  }

  /**
   * Returns the record that it would leave if the process were killed now. It has the id of the record itself, so that it can be told
   * whether that was written.
   */
  soFar(): UsageRecord {
    const read = this.#roundTrip?.readSoFar() ?? { reading: this.#unanswered("cut", null), bytesOut: 0 };
    return this.#compose(read.reading, read.bytesOut, "crash");
  }

  #record(reading: MeterReading, bytesOut: number, cutBy: CutBy | null, onRecorded: () => void): void {
    if (this.#isRecorded) {
      onRecorded();
      return;
    }
    this.#isRecorded = true;
    const { batch, running } = this.#books;
    chargeFilms(reading, this.#scan?.videoSeconds ?? null);
    const record = this.#compose(this.#withMiss(reading), bytesOut, cutBy);
    this.tap?.end(record);
    // Where it is the only one that runs, no other can end in this turn.
    batch.add(record, running.size > 1, () => {
      // Afterwards: what was held back is never free while the record is not counted.
      this.#attempt.hold?.release(record);
      running.remove(this);
      onRecorded();
    });
  }

  #compose(reading: MeterReading, bytesOut: number, cutBy: CutBy | null): UsageRecord {
    const { client, settings, headers } = this.received;
    const { account: payer, key, upstream, route } = this.choice;
    const account = this.#account ?? key.name;
    const identity = client.forRecord(this.choice, settings);
    const agent = this.#readAgent();
    const kept = this.#keepReservation(reading);
    const isTraced = settings.config.export.otlp?.trace === true;
    return {
      v: RECORD_VERSION,
      id: this.id,
      ts: new Date(this.#arrival.at).toISOString(),
      tool: identity.tool,
      tool_by: identity.by,
      session: this.#redact(identity.session),
      agent: this.#redact(agent.agent),
      agent_parent: this.#redact(agent.agent_parent),
      agent_kind: agent.agent_kind,
      turn: this.#redact(agent.turn),
      user_agent: this.#redact(headers.get("user-agent") ?? null),
      process: client.peer.process?.record ?? null,
      project: client.peer.project,
      branch: this.#branch,
      key: this.#isExtra ? asExtra(account) : account,
      upstream: this.#isExtra ? asExtra(upstream.recordedAs) : upstream.recordedAs,
      route: route.path,
      method: route.method,
      status: this.#status,
      model_requested: this.#redact(this.#scan?.model ?? this.#chosen.model),
      alias: this.#chosen.alias,
      stream: this.#streamed === true || (this.#scan?.stream ?? this.#streamed),
      // Listed one by one: V8 then builds the record in one step, 0.03 µs instead of 0.3 µs for a spread.
      outcome: reading.outcome,
      stop: reading.stop,
      error_type: reading.error_type,
      usage: reading.usage,
      spend: reading.spend,
      response_id: reading.response_id ?? this.#fetchedId(),
      model: reading.model,
      service_tier: reading.service_tier,
      speed: reading.speed,
      inference_geo: reading.inference_geo,
      tokens: reading.tokens,
      extra: reading.extra,
      server_tools: reading.server_tools,
      // What a service says of a plan's request is not paid, and with the tool's own key another account pays it.
      billed_usd: payer === "key" ? reading.billed_usd : null,
      raw_usage: reading.raw_usage,
      flags: reading.flags,
      output_estimate: reading.output_estimate,
      reserved_input: kept?.reserved_input ?? null,
      reserved_output: kept?.reserved_output ?? null,
      reserved_class: kept?.reserved_class ?? null,
      reserved_tier: this.#redact(kept?.reserved_tier ?? null),
      reserved_speed: this.#redact(kept?.reserved_speed ?? null),
      reserved_geo: this.#redact(kept?.reserved_geo ?? null),
      smallest_prompt: reading.smallest_prompt,
      largest_prompt: reading.largest_prompt,
      miss: reading.miss,
      miss_by: reading.miss_by,
      miss_tokens: reading.miss_tokens,
      output_file: reading.output_file,
      attempt_of: this.#attempt.after?.first.id ?? null,
      upstream_request_id: this.#upstreamRequestId,
      traceparent: isTraced ? this.#redact(readTraceparent(headers.get("traceparent"))) : null,
      cut_by: reading.outcome === "cut" ? cutBy : null,
      ttft_ms: this.#ttftMs,
      duration_ms: this.#elapsedMs(),
      bytes_in: this.#bytesIn,
      bytes_out: bytesOut,
    };
  }

  #readAgent(): AgentFacts {
    return (this.#agent ??= this.received.client.readAgent());
  }

  /** Compares it with the requests before it, as soon as its body is complete. */
  #beginTurn(): void {
    const readPrompt = this.#turn === null ? (this.#scan?.readPrompt ?? null) : null;
    const { client } = this.received;
    const { dialect } = this.choice.route;
    if (readPrompt === null || client.session === null || !isConversation(dialect)) return;
    const { agent } = this.#readAgent();
    this.#turn = this.#books.conversations.begin({
      sender: { tool: client.tool, upstream: this.choice.upstream.name, session: client.session, agent },
      model: this.#chosen.alias ?? this.#scan?.model ?? null,
      readPrompt,
      dialect,
      isStream: this.#scan?.stream === true,
      at: this.#arrival.at,
    });
  }

  /** Ends it among the requests of its conversation. Returns the reading with the miss that they tell, unless the service says one. */
  #withMiss(reading: MeterReading): MeterReading {
    if (this.#turn === null) return reading;
    const inferred = this.#turn.end(answeredBy(reading, this.#books.clock.now()));
    if (inferred === null || reading.miss !== null) return reading;
    reading.miss = inferred.miss;
    reading.miss_by = "inferred";
    reading.miss_tokens = inferred.miss_tokens;
    return reading;
  }

  /** Returns what the record keeps of its reservation; null where there is none. */
  #keepReservation(reading: MeterReading): ReturnType<typeof keepReservation> | null {
    const reserved = this.#attempt.hold?.reserved ?? null;
    if (reserved === null) return null;
    const { alias, model, size } = this.#chosen;
    return keepReservation(reading, reserved, size, alias ?? model);
  }

  #openTap(before: Exchange | null): Tap | null {
    const { client, headers } = this.received;
    const { route, path, upstream } = this.choice;
    const { origin } = upstream;
    const { peer, tool, isProvisional } = client;
    const isOfOwner = peer.isOwn || !peer.isKnown;
    const request = { tool, isProvisional, isOfOwner, method: route.method, origin, path, headers };
    return this.#books.captures.open(request, before?.tap ?? null);
  }

  async #findBranch({ peer }: ClientIdentity): Promise<void> {
    this.#branch = await peer.readBranch();
  }

  #unanswered(outcome: "rejected" | "cut", errorType: string | null): MeterReading {
    const usage = this.choice.route.spend === "never" ? "none" : "absent";
    return { ...createReading(outcome, usage), error_type: errorType };
  }

  /** Returns the id of the batch whose results or whose output were fetched, which these do not have; null for any other request. */
  #fetchedId(): string | null {
    if (this.choice.batch !== null) return this.choice.batch;
    const { request } = this.received;
    const isFetch = this.choice.route.dialect === "batch_results" && "match" in request;
    return isFetch ? storedId(request.match) : null;
  }

  #redact(text: string | null): string | null {
    return text === null ? null : this.received.client.redact(text);
  }

  #elapsedMs(): number {
    return Math.round((this.#books.clock.monotonic() - this.#arrival.tick) * 10) / 10;
  }
}

function createScanner({ request, headers }: ClientRequest, hashing: Hashing | null): RequestScanner {
  const form =
    "isForm" in request && request.isForm ? createFormScanner(headers.get("content-type") ?? "") : null;
  const named = "match" in request ? request.match.named : null;
  if (named !== null) return createPathScanner(named);
  return form ?? createRequestScanner(hashing);
}

/** True for an API whose requests have the conversation before them. */
function isConversation(dialect: Dialect): dialect is Asking["dialect"] {
  return dialect === "messages" || dialect === "responses" || dialect === "chat";
}

function ignore(): void {}
