import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerRequest, type Service } from "./answer-request.ts";
import { DEFAULT_GROUPS, DEFAULT_KEYS, type SandboxKey } from "./keys.ts";
import { PrefixMemory } from "./prefix-memory.ts";
import { ResponseStore } from "./responses/store.ts";
import { Tally, type TallyRow } from "./tally.ts";

export type { SandboxKey } from "./keys.ts";
export type { SandboxCount } from "./tally.ts";

/** Longer than clients keep idle sockets: one that closes just as a request comes would lose it. */
const KEEP_ALIVE_MS = 75_000;

export interface SandboxOptions {
  /** 0, the default, takes any free one. */
  port?: number;
  keys?: SandboxKey[];
  /** Group → names of the models that its keys may use. */
  groups?: Record<string, string[]>;
}

/** A running sandbox. */
export interface Sandbox {
  /** As clients want it: `http://127.0.0.1:PORT/v1`. */
  baseUrl: string;
  keys: SandboxKey[];
  /** What the service itself counted, per key and route, since it started. */
  counts(): TallyRow[];
  /** Stops listening and drops what is still open. */
  close(): Promise<void>;
}

/**
 * Starts the stand-in for the upstream service: loopback only, all routes, no model behind it.
 * Rejects with the socket's own error when the port cannot be had.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const keys = options.keys ?? [...DEFAULT_KEYS];
  const service: Service = {
    keys,
    groups: options.groups ?? DEFAULT_GROUPS,
    memories: { prefixes: new PrefixMemory(), responses: new ResponseStore() },
    tally: new Tally(),
  };
  const server = createServer((request, response) => void answerRequest(request, response, service));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    keys,
    counts: () => service.tally.rows(),
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
