import type { IncomingMessage, ServerResponse } from "node:http";
import { INERT_HEADERS } from "../core/http/header-policy.ts";

/**
 * Responds to the connectivity probe that some tools send before their first request: 200 with an empty body. It needs no
 * token, because tools probe before they read any credential, and it leaves no record.
 */
export function respondToProbe(_req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(200, ["content-length", "0", ...INERT_HEADERS]).end();
}
