import type { IncomingMessage, ServerResponse } from "node:http";
import type { Api } from "../core/http/api.ts";
import {
  getRefusalStatus,
  RefusalError,
  type Refusal,
  type UnrecordedRefusal,
} from "../core/refusals/refusal.ts";
import { guessApi } from "../core/http/routes.ts";
import { showPath } from "../core/refusals/routes.ts";
import type { Clock, Log } from "../ports.ts";
import { CHECK_HEADER, type CheckPass } from "./check-pass.ts";
import type { ExchangeRecorder } from "./exchange/exchange-recorder.ts";
import { INTERNAL } from "../core/refusals/routes.ts";
import type { RefusalSummary } from "./refusal-summary.ts";
import { sendRefusal } from "./send-refusal.ts";

/** What a refuser works with. */
interface RefuserParts {
  clock: Clock;
  log: Log;
  summary: RefusalSummary;
  checkPass: CheckPass;
  /** Receives the refusals that leave no record. */
  onUnrecorded(refusal: UnrecordedRefusal): void;
}

/** Ends the requests that a step of the gate refuses. Each is counted, leaves a record or is reported, and gets a response. */
export class Refuser {
  readonly #parts: RefuserParts;

  constructor(parts: RefuserParts) {
    this.#parts = parts;
  }

  /** Turns whatever a step threw into a refusal. `tool` and `exchange` are null if the request did not get that far. */
  refuse(
    req: IncomingMessage,
    res: ServerResponse,
    error: unknown,
    tool: string | null,
    exchange: ExchangeRecorder | null,
  ): void {
    const refusal = this.#refusalOf(error);
    const { code } = refusal;
    const api = exchange?.choice.route.api ?? guessApi(req.url ?? "");
    const send = () => sendRefusal(req, res, refusal, api);
    this.#parts.log.debug({ code, method: req.method }, "refused a request");
    if (exchange === null && this.#parts.checkPass.counts(req.headers[CHECK_HEADER])) return send();
    this.#parts.summary.count(code, tool);
    if (exchange === null) {
      this.#report(req, tool, refusal, api);
      send();
    } else {
      exchange.status = getRefusalStatus(code, api);
      exchange.recordUnanswered("rejected", code, null, send);
    }
  }

  #refusalOf(error: unknown): Refusal {
    if (error instanceof RefusalError) return error.refusal;
    this.#parts.log.error({ err: error }, "internal error in a request");
    return INTERNAL;
  }

  #report(
    { method = "", url = "" }: IncomingMessage,
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
