import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { findShape, type Api } from "../../core/http/api.ts";
import {
  getRefusalStatus,
  RefusalError,
  type Refusal,
  type RefusalCode,
  type UnrecordedRefusal,
} from "../../core/refusals/refusal.ts";
import { guessApi, type Route } from "../../core/http/routes.ts";
import { showPath } from "../../core/refusals/routes.ts";
import type { Clock, Log } from "../../ports.ts";
import { CHECK_HEADER, type CheckPass } from "./check-pass.ts";
import { INTERNAL } from "../../core/refusals/routes.ts";
import { ATTEMPTS_HEADER } from "../../core/http/header-policy.ts";
import type { CutBy } from "../../core/ledger/record.ts";
import { FailureReasons } from "./failure-reasons.ts";
import type { RefusalSummary } from "./summary.ts";
import { sendRaw, sendRefusal } from "./send.ts";

/** An exchange as far as refusing it goes. */
interface RefusedExchange {
  readonly received: { readonly req: IncomingMessage; readonly res: ServerResponse };
  readonly choice: {
    readonly upstream: { readonly name: string };
    readonly route: { readonly api: Api | null };
  };
  readonly tool: string;
  /** As in `Exchange`. */
  recordRefusal(code: RefusalCode, status: number | null, cutBy: CutBy | null, onRecorded: () => void): void;
}

/** What a refuser works with. */
interface RefuserParts {
  clock: Clock;
  log: Log;
  summary: RefusalSummary;
  checkPass: CheckPass;
  /** For the commands of refusals, from `configOptionOf`. */
  configOption: string;
  /** Receives the refusals that leave no record. */
  onUnrecorded(refusal: UnrecordedRefusal): void;
}

/** The API in whose shape a client gets errors where its route does not say: by its headers, or else by the path. */
function shapeOf({ headers, url }: IncomingMessage): Api {
  return findShape(headers) ?? guessApi(url ?? "");
}

/** Ends the requests that a step of the gate refuses. Each is counted, leaves a record or is reported, and gets a response. */
export class Refuser {
  /** Why attempts failed. */
  readonly failures = new FailureReasons();
  readonly #parts: RefuserParts;

  constructor(parts: RefuserParts) {
    this.#parts = parts;
  }

  get configOption(): string {
    return this.#parts.configOption;
  }

  /** Turns whatever a step threw into a refusal. `tool` and `exchange` are null if the request did not get that far. */
  refuse(
    req: IncomingMessage,
    res: ServerResponse,
    error: unknown,
    tool: string | null,
    exchange: RefusedExchange | null,
  ): void {
    const refusal = this.refusalOf(error);
    const { code } = refusal;
    const api = shapeOfRoute(exchange?.choice.route) ?? shapeOf(req);
    const send = () => sendRefusal(req, res, refusal, api, this.configOption);
    this.#parts.log.debug({ code, method: req.method }, "refused a request");
    if (exchange === null && this.#parts.checkPass.counts(req.headers[CHECK_HEADER])) return send();
    this.#parts.summary.count(code, tool);
    if (exchange === null) {
      this.#report(req, tool, refusal, api);
      send();
    } else {
      exchange.recordRefusal(code, getRefusalStatus(code, api), null, send);
    }
  }

  /**
   * Refuses a message on a WebSocket, which is `req`'s. `send` sends the refusal, with this status; it is called once the record is written.
   * `exchange` as for {@link Refuser.refuse}.
   */
  refuseMessage(
    req: IncomingMessage,
    { refusal, status, api }: { refusal: Refusal; status: number; api: Api },
    tool: string,
    exchange: Pick<RefusedExchange, "recordRefusal"> | null,
    send: () => void,
  ): void {
    const { code } = refusal;
    this.#parts.log.debug({ code }, "refused a message on a WebSocket");
    this.#parts.summary.count(code, tool);
    if (exchange === null) {
      this.#report(req, tool, refusal, api);
      send();
    } else exchange.recordRefusal(code, status, null, send);
  }

  /**
   * Ends an attempt whose upstream sent no response that the client could get. `cutBy` as for `Exchange.recordRefusal`. `attempts`
   * goes into the response's header; null without another attempt. Without `hasClient` there is only the record.
   */
  refuseAttempt(
    exchange: RefusedExchange,
    refusal: Refusal,
    cutBy: CutBy | null,
    attempts: string | null,
    hasClient: boolean,
  ): void {
    const { choice, tool, received } = exchange;
    const { code } = refusal;
    const api = shapeOfRoute(choice.route) ?? shapeOf(received.req);
    this.failures.keep(choice.upstream.name, refusal);
    exchange.recordRefusal(code, hasClient ? getRefusalStatus(code, api) : null, cutBy, () => {
      if (!hasClient) return;
      this.#parts.summary.count(code, tool);
      const explained = attempts === null ? refusal : { ...refusal, headers: [ATTEMPTS_HEADER, attempts] };
      sendRefusal(received.req, received.res, explained, api, this.configOption);
    });
  }

  /** Ends a connection whose request has no valid head, of which `bytes` may be the beginning. */
  refuseHead(socket: Socket, bytes: Buffer | undefined, refusal: Refusal): void {
    const [, method = "", url = ""] =
      /^([A-Z]{1,16}) (\S+)/.exec(bytes?.toString("latin1", 0, 1024) ?? "") ?? [];
    const api = guessApi(url);
    this.#parts.summary.count(refusal.code, null);
    this.#report({ method, url }, null, refusal, api);
    sendRaw(socket, refusal, api, this.configOption);
  }

  /** Returns the refusal for whatever a step threw. What is no refusal is logged. */
  refusalOf(error: unknown): Refusal {
    if (error instanceof RefusalError) return error.refusal;
    this.#parts.log.error({ err: error }, "internal error in a request");
    return INTERNAL;
  }

  #report(
    { method = "", url = "" }: Pick<IncomingMessage, "method" | "url">,
    tool: string | null,
    { code }: Refusal,
    api: Api,
  ): void {
    this.#parts.onUnrecorded({
      ts: new Date(this.#parts.clock.now()).toISOString(),
      refused: code,
      status: getRefusalStatus(code, api),
      tool,
      method,
      path: showPath(url),
    });
  }
}

/** Returns the API in whose error shape a route is refused; null where its clients decide. */
function shapeOfRoute(route: Pick<Route, "api" | "shape"> | undefined): Api | null {
  return route?.shape ?? route?.api ?? null;
}
