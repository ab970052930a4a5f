// Bytes of one connection that parsers of HTTP (RFC 9112) disagree about. Based on the tests of llhttp, nginx and Envoy, and on
// published research on request smuggling.
import type { SmugglingCase } from "./smuggling/case.ts";
import * as chunks from "./smuggling/chunks.ts";
import * as exchanges from "./smuggling/exchanges.ts";
import * as framing from "./smuggling/framing.ts";
import * as lines from "./smuggling/lines.ts";

/** All cases by subject. */
export const SMUGGLING_CASES: Record<string, SmugglingCase[]> = {
  ...framing,
  ...lines,
  ...chunks,
  ...exchanges,
};
