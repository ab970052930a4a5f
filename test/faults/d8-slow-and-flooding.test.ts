// D8, slow and flooding clients: slow clients, large bodies and floods of connections or requests cost bounded memory and hold nobody else up.
// A client that stays and never reads keeps its upstream: what it costs is bounded, and a tool that was suspended may go on.
import { test } from "node:test";
import { FLOODS } from "./floods/connections.ts";
import { LARGE_BODIES } from "./floods/large-bodies.ts";
import { SLOW_CLIENTS } from "./floods/slow-clients.ts";

/** A wait for what does not come is a failure. */
const LIMIT = { timeout: 20_000 };

for (const [name, play] of Object.entries({ ...SLOW_CLIENTS, ...LARGE_BODIES, ...FLOODS })) {
  test(name, LIMIT, play);
}
