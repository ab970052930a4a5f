import type { Guarantee } from "./guarantee.ts";
import { CREDENTIAL_GUARANTEES } from "./guarantees/credentials.ts";
import { RECORD_GUARANTEES } from "./guarantees/records.ts";
import { REFUSAL_GUARANTEES } from "./guarantees/refusals.ts";
import { REQUEST_GUARANTEES } from "./guarantees/requests.ts";
import { RESPONSE_GUARANTEES } from "./guarantees/responses.ts";
import { STREAM_GUARANTEES } from "./guarantees/streams.ts";

/** Everything that tollkeeper guarantees, in the order in which it is shown. */
export const GUARANTEES: readonly Guarantee[] = [
  ...REQUEST_GUARANTEES,
  ...CREDENTIAL_GUARANTEES,
  ...RESPONSE_GUARANTEES,
  ...STREAM_GUARANTEES,
  ...REFUSAL_GUARANTEES,
  ...RECORD_GUARANTEES,
];
