import type { Status } from "../../../src/local/dashboard/page/feed-types.ts";

/** An upstream as the dashboard is told of it before any request has gone there. */
export const UNUSED_UPSTREAM: Status["upstreams"][number] = {
  name: "default",
  base_url: "https://api.anthropic.com/v1",
  is_sandbox: false,
  cooldown_ms: null,
  last_exchange: null,
  last_failure: null,
  failing: null,
  worked_at: null,
};
