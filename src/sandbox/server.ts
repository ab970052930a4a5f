import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { handleRequest, type SandboxState } from "./handle-request.ts";
import { DEFAULT_KEYS, type SandboxKey } from "./keys.ts";
import { DEFAULT_GROUPS } from "./models.ts";
import { PromptCache } from "./generation/prompt-cache.ts";
import { ResponseStore } from "./responses/store.ts";
import { Tally, type TallyRow } from "./tally.ts";

/** Longer than clients keep idle connections, so that none is closed just as a request arrives on it. */
const KEEP_ALIVE_MS = 75_000;

export interface SandboxOptions {
  /** 0, the default, chooses a free port. */
  port?: number;
  keys?: SandboxKey[];
  /** Names of the models that the keys of each group may use, by group. */
  groups?: Record<string, string[]>;
}

/** A running sandbox. */
export interface Sandbox {
  /** `http://127.0.0.1:PORT/v1`. */
  baseUrl: string;
  keys: SandboxKey[];
  /** Returns what the sandbox has tallied since it started, per key and route. */
  counts(): TallyRow[];
  /** Stops listening and closes all connections. */
  close(): Promise<void>;
}

/** Starts a made-up upstream, on loopback only. @throws the listener's error, such as EADDRINUSE */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const keys = options.keys ?? [...DEFAULT_KEYS];
  const state: SandboxState = {
    keys,
    groups: options.groups ?? DEFAULT_GROUPS,
    routeState: { promptCache: new PromptCache(), responses: new ResponseStore() },
    tally: new Tally(),
  };
  const server = createServer((request, response) => void handleRequest(request, response, state));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    keys,
    counts: () => state.tally.rows(),
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
