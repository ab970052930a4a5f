import type { IncomingMessage, ServerResponse } from "node:http";
import type { Health } from "../core/health.ts";
import { INERT_HEADERS } from "../core/http/header-policy.ts";

/** Whose connection a request came on. */
interface Asker {
  /** True if the system says that it is of a user who is admitted; false where it cannot tell. */
  readonly isKnown: boolean;
}

/**
 * Responds to monitors: 200 when the daemon can serve, and 503 when it cannot. Says in one word what is wrong, unless the system cannot
 * tell whose connection it is. It needs no token, and it leaves no record.
 */
export function healthResponder(judge: () => Health) {
  return ({ method }: IncomingMessage, res: ServerResponse, asker: Asker): void => {
    const health = judge();
    const body = asker.isKnown ? `${health}\n` : "";
    const headers = {
      "content-type": "text/plain; charset=utf-8",
      "content-length": String(body.length),
      "cache-control": "no-store",
    };
    res.writeHead(health === "ok" ? 200 : 503, [...Object.entries(headers).flat(), ...INERT_HEADERS]);
    res.end(method === "HEAD" ? "" : body);
  };
}
