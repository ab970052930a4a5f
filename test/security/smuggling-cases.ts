// What readers of HTTP disagree about (RFC 9112), case by case: each is what an attacker writes on one connection.
// After the test lists of llhttp, nginx and Envoy, and the published research on request smuggling.
import type { SmugglingCase } from "./smuggling/case.ts";
import * as chunks from "./smuggling/chunks.ts";
import * as exchanges from "./smuggling/exchanges.ts";
import * as framing from "./smuggling/framing.ts";
import * as lines from "./smuggling/lines.ts";

/** All cases, by what they are about. */
export const SMUGGLING_CASES: Record<string, SmugglingCase[]> = {
  ...framing,
  ...lines,
  ...chunks,
  ...exchanges,
};
