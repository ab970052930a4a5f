// The negotiation of compression (RFC 7692 section 7.1): what a client offers, what is offered for it, and what an upstream may accept.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { readAccepted, readOffer } from "../../../src/core/websocket/compression.ts";

const NAME = "permessage-deflate";

/** By what a client offers: what is offered to the upstream. */
const OFFERS: [offered: string[], sent: string | null][] = [
  [[], null],
  [[NAME], NAME],
  [[`${NAME}; client_max_window_bits`], NAME],
  [[`${NAME};client_max_window_bits=10 ; server_no_context_takeover`], `${NAME}; server_no_context_takeover`],
  [[`${NAME}; server_max_window_bits=10`], `${NAME}; server_max_window_bits=10`],
  [[`${NAME}; client_no_context_takeover`], `${NAME}; client_no_context_takeover`],
  [[`x-other, ${NAME}`], NAME],
  [["x-other", `${NAME}; client_max_window_bits`], NAME],
  [[`${NAME}; server_max_window_bits=7, ${NAME}`], NAME],
  [["x-webkit-deflate-frame"], null],
  [[`${NAME}; x-other`], null],
  [[`${NAME}; server_max_window_bits`], null],
  [[`${NAME}; server_max_window_bits="10"`], null],
  [[`${NAME}; server_no_context_takeover=1`], null],
  [[`${NAME}; server_no_context_takeover; server_no_context_takeover`], null],
  [[`${NAME};`], null],
  [[`${NAME} client_max_window_bits`], null],
];

for (const [offered, sent] of OFFERS) {
  test(`of ${JSON.stringify(offered)}, ${sent ?? "nothing"} is offered`, () => {
    const lines = offered.flatMap((value) => ["Sec-WebSocket-Extensions", value]);
    assert.equal(readOffer(new HeaderIndex(lines)), sent);
  });
}

/** By what an upstream accepts: who may refer to earlier messages. null: it may not accept that. */
const ACCEPTED: [accepted: string, client: boolean | null, server?: boolean][] = [
  [NAME, true, true],
  [`${NAME}; client_no_context_takeover`, false, true],
  [`${NAME};server_no_context_takeover;server_max_window_bits=12`, true, false],
  [`${NAME}; client_no_context_takeover; server_no_context_takeover`, false, false],
  [`${NAME}; client_max_window_bits=15`, null],
  [`${NAME}; server_max_window_bits=16`, null],
  [`${NAME}; client_no_context_takeover; client_no_context_takeover`, null],
  [`${NAME}, ${NAME}`, null],
  ["x-other", null],
  ["", null],
];

for (const [accepted, clientTakesOver, serverTakesOver] of ACCEPTED) {
  test(`${clientTakesOver === null ? "an upstream may not accept" : "an upstream accepts"} ${JSON.stringify(accepted)}`, () => {
    const expected = clientTakesOver === null ? null : { clientTakesOver, serverTakesOver };
    assert.deepEqual(readAccepted(accepted), expected);
  });
}
