import type { IncomingMessage, ServerResponse } from "node:http";
import { KeyFailure } from "../core/failure.ts";
import type { HeaderIndex } from "../core/http/header-index.ts";
import { readTraceparent } from "../core/export/trace-context.ts";
import { buildUpstreamHeaders } from "../core/http/headers.ts";
import { RefusalError } from "../core/refusals/refusal.ts";
import type { Route } from "../core/http/routes.ts";
import { Circuits } from "../core/policy/circuits.ts";
import type { KeyRef } from "../core/secrets/key-source.ts";
import type { Secret } from "../core/secrets/secret.ts";
import type { RequestHold, Budgets, Clock, Log } from "../ports.ts";
import type { Brakes } from "./brakes.ts";
import type { Choice } from "./choose-upstream.ts";
import type { PeerGuard } from "./client/peer-guard.ts";
import { ExchangeRecorder, type Books, type ExchangeHead } from "./exchange/exchange-recorder.ts";
import type { FailureReasons } from "./exchange/failure-reasons.ts";
import { Fallback, type NextAttempt } from "./exchange/fallback.ts";
import type { Forwarder } from "./exchange/forward.ts";
import type { RoundTripOptions } from "./exchange/round-trip-options.ts";
import type { SharedBuffer } from "./exchange/shared-buffer.ts";
import { noKey } from "../core/refusals/keys.ts";
import type { Keyring } from "./keyring.ts";
import { permit, permitAttempt, type Permission, type PolicedRequest } from "./permit.ts";
import type { RefusalSummary } from "./refusal-summary.ts";
import type { Refuser } from "./refuser.ts";
import type { ApiRequest } from "./resolve-route.ts";
import type { Settings } from "./settings.ts";

/** What a sender works with. */
interface SenderParts {
  forwarder: Forwarder;
  keyring: Keyring;
  peers: PeerGuard;
  books: Books;
  buffer: SharedBuffer;
  refusals: RefusalSummary;
  refuser: Refuser;
  failures: FailureReasons;
  budgets: Budgets;
  brakes: Brakes;
  clock: Clock;
  log: Log;
}

/** A request whose upstream is chosen. */
export interface ChosenRequest extends PolicedRequest {
  req: IncomingMessage;
  res: ServerResponse;
  headers: HeaderIndex;
  settings: Settings;
}

/** What a policy says about a request, and the upstream that it goes to first. */
interface PermittedRequest extends Permission {
  choice: Choice;
  /** null where there is none. */
  fallback: Fallback | null;
}

/** Judges chosen requests, opens their exchanges, reads their keys, and sends them: to one upstream, or to one after the other. */
export class Sender {
  readonly #parts: SenderParts;
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

  /** Judges a request by its tool's policy, and chooses the first upstream to ask. */
  permit(request: ChosenRequest, asked: ApiRequest): PermittedRequest {
    const { client, chosen } = request;
    const { refusal, hold } =
      client.refusal === null ? permit(request, asked, this.#parts) : { refusal: client.refusal, hold: null };
    // A refused request must not be the probe of a circuit.
    if (refusal !== null) return { refusal, hold, choice: chosen.choice, fallback: null };
    const fallback = this.#createFallback(request);
    const choice = fallback?.first ?? chosen.choice;
    if (choice === chosen.choice) return { refusal, hold, choice, fallback };
    hold?.release();
    return { ...permitAttempt(request, choice, this.#parts), choice, fallback };
  }

  /** Returns null where the configuration names no fallback. */
  #createFallback(request: ChosenRequest): Fallback | null {
    const { choice } = request.chosen;
    if (choice.fallbacks.length === 0) return null;
    const { buffer, clock } = this.#parts;
    return new Fallback(choice, {
      circuits: this.#circuits,
      buffer,
      clock,
      firstByteMs: request.settings.limits.firstByteMs,
      readKey: ({ key }) => this.#findKey(key),
      start: (next, fallback) => this.#sendAgain(request, next, fallback),
    });
  }

  /** Opens an exchange, which leaves one record however it ends. Then `hold` is released. */
  openExchange(
    { client, chosen, headers, settings }: ChosenRequest,
    choice: Choice,
    hold: RequestHold | null,
    next: NextAttempt | null,
  ): ExchangeRecorder {
    const head: ExchangeHead = {
      client,
      choice,
      model: chosen.model,
      alias: chosen.alias,
      hold,
      arrival: next === null ? chosen.arrival : null,
      settings,
      limits: next === null ? settings.limits : { ...settings.limits, firstByteMs: next.firstByteMs },
      firstAttempt: next === null ? null : next.firstAttempt,
      userAgent: headers.get("user-agent") ?? null,
      traceparent:
        settings.config.export.otlp?.trace === true ? readTraceparent(headers.get("traceparent")) : null,
      contentEncoding: headers.get("content-encoding") ?? null,
    };
    return new ExchangeRecorder(head, this.#parts.books);
  }

  /** Reads a key. @throws RefusalError when there is none */
  async readKey(ref: KeyRef): Promise<Secret> {
    try {
      return await this.#parts.keyring.get(ref);
    } catch (error) {
      if (!(error instanceof KeyFailure)) throw error;
      const facts = { key: ref.name, origin: ref.origin, hint: error.hint };
      this.#parts.log.warn({ about: "keys", ...facts }, error.message);
      throw new RefusalError(noKey(error));
    }
  }

  /** Sends a request. `announcedBytes` is null for a chunked body. */
  send(
    request: ChosenRequest,
    exchange: ExchangeRecorder,
    secret: Secret,
    announcedBytes: number | null,
    fallback: Fallback | null,
  ): void {
    this.#forward(request, exchange, secret, { announcedBytes, fallback, guard: request.chosen.guard });
  }

  /** As {@link Sender.readKey}; resolves with null when there is none. */
  async #findKey(ref: KeyRef): Promise<Secret | null> {
    try {
      return await this.readKey(ref);
    } catch (error) {
      if (!(error instanceof RefusalError)) this.#parts.log.error({ err: error }, "cannot read a key");
      return null;
    }
  }

  /** Sends the body that the fallback has kept. */
  #sendAgain(request: ChosenRequest, next: NextAttempt, fallback: Fallback): void {
    const { refusal, hold } = permitAttempt(request, next.choice, this.#parts);
    const exchange = this.openExchange(request, next.choice, hold, next);
    try {
      if (refusal !== null) throw new RefusalError(refusal);
      this.#forward(request, exchange, next.secret, { announcedBytes: null, fallback, guard: null });
    } catch (error) {
      fallback.body.drop();
      this.#parts.refuser.refuse(request.req, request.res, error, request.client.tool, exchange);
    }
  }

  #forward(
    { req, res, headers, chosen }: ChosenRequest,
    exchange: ExchangeRecorder,
    secret: Secret,
    attempt: Pick<RoundTripOptions, "announcedBytes" | "fallback" | "guard">,
  ): void {
    const { forwarder, keyring, peers, refusals, failures, buffer } = this.#parts;
    const { choice } = exchange;
    forwarder.forward(req, res, {
      exchange,
      headers: composeHeaders(headers, choice, secret, chosen.guard?.addedBytes ?? 0),
      secret,
      announcedBytes: attempt.announcedBytes,
      guard: attempt.guard,
      fallback: attempt.fallback,
      refusals,
      failures,
      buffer,
      onKeyRejected: () => keyring.recheck(choice.key),
      hasClientLeft: () => peers.hasLeft(req.socket),
    });
  }
}

/** The API whose keys are carried in `x-api-key` wants its version on every route. */
function needsVersion({ dialect, auth }: Route): boolean {
  return dialect === "messages" || auth === "x-api-key";
}

function composeHeaders(
  headers: HeaderIndex,
  { upstream, route }: Choice,
  secret: Secret,
  addedBytes: number,
): string[] {
  return buildUpstreamHeaders(headers, {
    host: upstream.host,
    auth: route.auth,
    secret,
    defaultVersion: needsVersion(route) ? upstream.anthropicVersion : null,
    isLocal: upstream.isLocal,
    fixed: upstream.fixed.headers,
    addedBytes,
  });
}
