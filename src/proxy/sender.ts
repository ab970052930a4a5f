import { brakedRequest, budgetRequest, judgeBudgets, judgeLimits } from "../core/decide/decide.ts";
import type { Chosen, Decision } from "../core/decide/decision.ts";
import type { Choice, KeyChoice } from "../core/decide/choose-upstream.ts";
import type { HeaderIndex } from "../core/http/header-index.ts";
import { firstByteLimitMs } from "../core/http/client-timeout.ts";
import { buildPlanHeaders, buildUpstreamHeaders } from "../core/http/build-headers.ts";
import type { Route } from "../core/http/routes.ts";
import { listOwnKeyHeaders } from "../core/plans/own-keys.ts";
import { Circuits } from "../core/policy/circuits.ts";
import { RefusalError, type Refusal } from "../core/refusals/refusal.ts";
import type { Secret } from "../core/secrets/secret.ts";
import type { RequestHold, Budgets, Limits } from "../ports.ts";
import type { Brakes } from "./brakes.ts";
import type { PeerGuard } from "./client/peer-guard.ts";
import { askInTurn, type PreparedAttempt, type SentAttempt } from "./exchange/ask-in-turn.ts";
import { Attempts } from "./exchange/attempts.ts";
import { Exchange, type Attempt, type Books, type ClientRequest } from "./exchange/exchange.ts";
import { createForward } from "./exchange/forward.ts";
import type { ModelGuard } from "./exchange/model-guard.ts";
import type { RoundTrip } from "./exchange/round-trip.ts";
import type { SharedBuffer } from "./exchange/shared-buffer.ts";
import type { OutgoingBody } from "./exchange/upload.ts";
import type { Keyring } from "./keyring.ts";
import { isSigned, signHeaders } from "./signing.ts";
import { payloadOf, type Payload } from "./signing/payload.ts";
import type { Refuser } from "./refusals/refuser.ts";
import type { UpstreamPools } from "./upstream/pools.ts";

/** What a sender works with. */
interface SenderParts {
  pools: UpstreamPools;
  keyring: Keyring;
  peers: PeerGuard;
  books: Books;
  buffer: SharedBuffer;
  refuser: Refuser;
  budgets: Budgets;
  brakes: Brakes;
  limits: Limits;
}

/** A request whose first exchange is open. */
interface Opened {
  exchange: Exchange;
  /** The upstreams to ask after the first; null where there are none. */
  attempts: Attempts | null;
  /** null for a request that may go to the first of them. */
  refusal: Refusal | null;
}

/** Sends requests for which it is decided that they go: to one upstream, or to one after the other. */
export class Sender {
  readonly #parts: SenderParts;
  readonly #forward = createForward();
  #circuits = new Circuits();

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Which upstreams are to be skipped. */
  get circuits(): Pick<Circuits, "cooldownOf"> {
    return this.#circuits;
  }

  /** Closes all circuits: a change of the configuration may have fixed what was wrong. */
  resetCircuits(): void {
    this.#circuits = new Circuits();
  }

  /** Opens the exchange of a refused request, for its record. */
  openRefused(received: ClientRequest, chosen: Chosen): Exchange {
    const attempt = { choice: chosen.choice, hold: null, after: null };
    return new Exchange(received, chosen, attempt, this.#parts.books);
  }

  /**
   * Opens the exchange of a request that goes, and counts it. If another upstream has to be asked first, that may refuse it. Nothing may
   * wait between the decision and this.
   */
  open(received: ClientRequest, decision: Decision): Opened {
    const braked = brakedRequest(decision);
    if (braked !== null) this.#parts.brakes.count(braked);
    const { choice: decided } = decision;
    const hasOthers = decided.account === "key" && decided.fallbacks.length > 0;
    const attempts = hasOthers ? this.#listAttempts(received, decision, decided) : null;
    const choice = attempts?.first ?? decided;
    const { exchange, refusal } = this.#openAttempt(received, decision, choice, null);
    return { exchange, attempts, refusal };
  }

  /**
   * Holds what an attempt may spend, and its place among those that run. Returns null where neither a budget nor a brake is for it.
   * @param needsPlace false for one that has the place of a request that runs
   */
  hold(
    { client }: ClientRequest,
    decision: Decision,
    choice: Choice,
    needsPlace: boolean,
  ): RequestHold | null {
    const { budgets, brakes } = this.#parts;
    const budgeted = budgetRequest(decision, choice, client);
    const held = budgeted === null ? null : budgets.hold(budgeted);
    const braked = needsPlace ? brakedRequest(decision) : null;
    return braked === null ? held : joinHolds(held, brakes.enter(braked.brakes));
  }

  /** Composes the headers of an attempt that is signed. Nothing may change its body afterwards. */
  sign(received: ClientRequest, choice: KeyChoice, secret: Secret, payload: Payload): Promise<string[]> {
    const headers = composeHeaders(received.headers, choice, secret, 0);
    return signHeaders(headers, choice, secret, payload, this.#parts.books.clock.now());
  }

  /**
   * Sends a request that is not refused. `guard` reads its body as it passes; null where the model decides nothing. `signed` are the
   * headers from {@link Sender.sign}; null where nothing is signed.
   */
  send(
    { exchange, attempts }: Opened,
    decision: Decision,
    secret: Secret,
    guard: ModelGuard | null,
    signed: string[] | null,
  ): void {
    const { announcedBytes } = decision;
    const addedBytes = guard?.addedBytes ?? 0;
    const body = { announcedBytes, addedBytes, guard, kept: attempts?.body ?? null };
    const roundTrip = this.#start(exchange, secret, body, attempts, signed);
    if (attempts === null) return;
    const { received } = exchange;
    void askInTurn(
      { exchange, roundTrip },
      {
        prepare: (before, result) => this.#prepareNext(attempts, before, result),
        send: (next) => this.#sendNext(received, attempts, next, addedBytes),
      },
    );
  }

  /** As {@link Attempts.next}, with a signature where it needs one: for its host and the present time. Never rejects. */
  async #prepareNext(attempts: Attempts, before: Exchange, result: string): Promise<PreparedAttempt | null> {
    const next = await attempts.next(before, result);
    if (next === null || !isSigned(next.choice)) return next === null ? null : { ...next, signed: null };
    const { content } = attempts.body;
    if (content === null) return null;
    const signing = this.sign(before.received, next.choice, next.secret, payloadOf(content));
    // Without what signs there is no other attempt. A request that goes there first says why.
    const signed = await signing.catch(() => null);
    return signed === null ? null : { ...next, signed };
  }

  /** Opens and sends an attempt after the first: the body that was kept. Returns null for one that is refused. */
  #sendNext(
    received: ClientRequest,
    attempts: Attempts,
    { choice, secret, after, signed }: PreparedAttempt,
    addedBytes: number,
  ): SentAttempt | null {
    const { exchange, refusal } = this.#openAttempt(received, attempts.decision, choice, after);
    try {
      if (refusal !== null) throw new RefusalError(refusal);
      const body = { announcedBytes: null, addedBytes, guard: null, kept: attempts.body };
      return { exchange, roundTrip: this.#start(exchange, secret, body, attempts, signed) };
    } catch (error) {
      attempts.body.drop();
      this.#parts.refuser.refuse(received.req, received.res, error, received.client.tool, exchange);
      return null;
    }
  }

  #listAttempts({ settings, headers }: ClientRequest, decision: Decision, choice: KeyChoice): Attempts {
    const { buffer, books, keyring } = this.#parts;
    const firstByteMs = firstByteLimitMs(settings.limits.firstByteMs, headers);
    return new Attempts(decision, choice, {
      circuits: this.#circuits,
      buffer,
      clock: books.clock,
      firstByteMs,
      keyring,
    });
  }

  /** Each attempt goes to another upstream, by another price, and another account pays for it. */
  #openAttempt(
    received: ClientRequest,
    decision: Decision,
    choice: Choice,
    after: Attempt["after"],
  ): Omit<Opened, "attempts"> {
    const isDecided = choice === decision.choice;
    const refusal = isDecided
      ? null
      : (judgeLimits(decision, choice, this.#parts) ??
        judgeBudgets(decision, choice, received.client, this.#parts));
    const hold = refusal === null ? this.hold(received, decision, choice, true) : null;
    const exchange = new Exchange(received, decision, { choice, hold, after }, this.#parts.books);
    return { exchange, refusal };
  }

  #start(
    exchange: Exchange,
    secret: Secret,
    body: OutgoingBody,
    attempts: Attempts | null,
    signed: string[] | null,
  ): RoundTrip {
    exchange.noteReservation();
    const { received, choice } = exchange;
    const headers = signed ?? composeHeaders(received.headers, choice, secret, body.addedBytes);
    if (signed === null && choice.route.method === "POST" && hasNoFraming(received.headers))
      headers.push("content-length", "0");
    const pooled = this.#parts.pools.of(choice, received.headers);
    return this.#forward(exchange, { headers, secret, body, attempts }, this.#parts, pooled);
  }
}

function joinHolds(budgets: RequestHold | null, leaveBrakes: () => void): RequestHold {
  return {
    percent: budgets?.percent ?? null,
    reserved: budgets?.reserved ?? null,
    release(record) {
      budgets?.release(record);
      leaveBrakes();
    },
  };
}

/** The API whose keys are carried in `x-api-key` wants its version on every route. Vertex has it in the body. */
function needsVersion({ dialect, auth, api }: Route): boolean {
  return (dialect === "messages" && api !== "gemini") || auth === "x-api-key";
}

/** True for a request without a body (RFC 9112 section 6.3). An empty one in chunks would be another request. */
function hasNoFraming(headers: HeaderIndex): boolean {
  return !headers.has("content-length") && !headers.has("transfer-encoding");
}

/** Composes the headers with which a request of the client goes to an upstream. */
export function composeHeaders(
  headers: HeaderIndex,
  { account, upstream, route, plan }: Choice,
  secret: Secret,
  addedBytes: number,
): string[] {
  if (plan !== null) return buildPlanHeaders(headers, upstream.host, plan);
  const isOwn = account === "own";
  const built = buildUpstreamHeaders(headers, {
    host: upstream.host,
    // A signature comes last, once all else is known.
    auth: isOwn || route.auth === "sigv4" ? "none" : route.auth,
    secret,
    defaultVersion: needsVersion(route) ? upstream.anthropicVersion : null,
    isLocal: upstream.isLocal,
    fixed: upstream.fixed.headers,
    addedBytes,
  });
  return isOwn ? [...built, ...listOwnKeyHeaders(headers)] : built;
}
