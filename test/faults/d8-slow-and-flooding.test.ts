// D8, slow and flooding clients: slow clients, large bodies and floods of connections or requests take bounded memory and delay no
// other client. A client that never reads keeps its upstream connection: its memory is bounded, and a suspended tool may resume.
import { test } from "node:test";
import { FLOODS } from "./floods/connections.ts";
import { LARGE_BODIES } from "./floods/large-bodies.ts";
import { SLOW_CLIENTS } from "./floods/slow-clients.ts";
import { STUCK_ENDINGS } from "./floods/stuck-endings.ts";
import { STUCK_READERS } from "./floods/stuck-readers.ts";

const LIMIT = { timeout: 300_000 };

for (const [name, run] of Object.entries({
  ...SLOW_CLIENTS,
  ...STUCK_READERS,
  ...STUCK_ENDINGS,
  ...LARGE_BODIES,
  ...FLOODS,
})) {
  test(name, LIMIT, run);
}
