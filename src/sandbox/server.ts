import { once } from "node:events";
import { createServer, ServerResponse, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { SandboxState } from "./api.ts";
import { handleRequest } from "./handle-request.ts";
import type { SandboxKey } from "./keys.ts";
import { PromptCache } from "./generation/prompt-cache.ts";
import { GENERAL_PROFILE, PROFILES, type Profile, type ProfileName } from "./profiles.ts";
import { Storage } from "./files/storage.ts";
import { ResponseStore } from "./responses/store.ts";
import { Tally, type Execution, type TallyRow } from "./tally.ts";

/** Longer than clients keep idle connections, so that none is closed just as a request arrives on it. */
const KEEP_ALIVE_MS = 75_000;

export interface SandboxOptions {
  /** 0, the default, chooses a free port. */
  port?: number;
  /** The service to stand for; by default everything at once. */
  profile?: ProfileName;
  /** By which a request's switches address this sandbox alone; by default the profile's name, or `sandbox`. */
  name?: string;
  keys?: SandboxKey[];
  /** Names of the models that the keys of each group may use, by group. */
  groups?: Record<string, string[]>;
}

/** A running sandbox. */
export interface Sandbox {
  /** Such as `http://127.0.0.1:PORT/v1`. */
  baseUrl: string;
  profile: Profile;
  keys: SandboxKey[];
  /** Returns what the sandbox has tallied since it started, per key and route. */
  counts(): TallyRow[];
  /** Returns the newest 10 000 requests that it has carried out, oldest first. */
  executions(): Execution[];
  /** Stops listening and closes all connections. */
  close(): Promise<void>;
}

/** Starts a made-up upstream, on loopback only. @throws the listener's error, such as EADDRINUSE */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const profile = options.profile === undefined ? GENERAL_PROFILE : PROFILES[options.profile];
  const keys = options.keys ?? [...profile.keys];
  const state: SandboxState = {
    name: options.name ?? options.profile ?? "sandbox",
    profile,
    keys,
    groups: options.groups ?? profile.groups,
    routeState: { promptCache: new PromptCache(), responses: new ResponseStore(), storage: new Storage() },
    tally: new Tally(),
  };
  const upgraded = new Set<Socket>();
  const server = createServer((request, response) => void handleRequest(request, response, state));
  // With this listener, the server passes on every upgrade and leaves the response to it.
  server.on("upgrade", (request, socket: Socket) => {
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
    void handleRequest(request, respondOn(request, socket), state);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${profile.basePath}`,
    profile,
    keys,
    counts: () => state.tally.rows(),
    executions: () => state.tally.executions(),
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
      await closed;
    },
  };
}

/** Returns the response to a request whose connection the server has given away. It is the last one there. */
function respondOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.end());
  // 'close' follows.
  socket.on("error", () => {});
  return response;
}
