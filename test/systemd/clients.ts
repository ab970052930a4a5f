import { Agent, request, type IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { text } from "node:stream/consumers";
import { SERVICE_USER } from "./service-user.ts";

/** Options of a client. */
export interface ClientOptions {
  host: "127.0.0.1" | "::1";
  /** True when it reuses connections. */
  keepsAlive: boolean;
}

/**
 * Resolves to loopback while acting as the user of the service, because the daemon admits nobody else, and in its sandbox
 * not even root. Node creates the socket within this callback, and the kernel assigns it to the effective user.
 */
const lookupAsUser: LookupFunction = (_host, { family }, callback) => {
  process.seteuid?.(SERVICE_USER.uid);
  try {
    callback(null, family === 6 ? "::1" : "127.0.0.1", Number(family));
  } finally {
    process.seteuid?.(0);
  }
};

/** Creates an agent for one client, with at most one connection. */
export function createAgent(
  { host, keepsAlive }: ClientOptions = { host: "127.0.0.1", keepsAlive: false },
): Agent {
  return new Agent({
    lookup: lookupAsUser,
    family: host === "::1" ? 6 : 4,
    keepAlive: keepsAlive,
    maxSockets: 1,
  });
}

/** A response with its complete body. */
interface ReceivedResponse {
  status: number;
  body: string;
}

/** Sends a request, with a JSON body if given. Rejects when there is no complete response. */
export async function sendRequest(agent: Agent, url: string, body?: object): Promise<ReceivedResponse> {
  const response = await openResponse(agent, url, body);
  return { status: response.statusCode ?? 0, body: await text(response) };
}

/** Sends a request and resolves as soon as the response headers arrive. */
export function openResponse(agent: Agent, url: string, body?: object): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    request(url, { agent, method, headers })
      .once("response", resolve)
      .once("error", reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** A request whose progress can be observed. */
export class ObservedRequest {
  isConnected = false;
  hasResponse = false;
  /** The status of the response. */
  readonly status: Promise<number>;

  constructor(url: string) {
    this.status = new Promise((resolve, reject) => {
      request(url, { agent: createAgent() })
        .once("socket", (socket) => socket.once("connect", () => (this.isConnected = true)))
        .once("response", (response) => {
          this.hasResponse = true;
          response.resume();
          resolve(response.statusCode ?? 0);
        })
        .once("error", reject)
        .end();
    });
  }
}

/** A client that sends the next request as soon as it has a response, until it is stopped. */
export class LoadClient {
  readonly #agent: Agent;
  readonly #url: string;
  readonly #done: Promise<void>;
  #isStopped = false;
  responseCount = 0;
  /** One message for each request without a successful response. */
  readonly failures: string[] = [];

  constructor(agent: Agent, url: string) {
    this.#agent = agent;
    this.#url = url;
    this.#done = this.#run();
  }

  /** Resolves when the last response has arrived. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
    this.#agent.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        const { status } = await sendRequest(this.#agent, this.#url);
        if (status === 200) this.responseCount += 1;
        else this.failures.push(`status ${status}`);
      } catch (error) {
        this.failures.push(error instanceof Error ? error.message : String(error));
      }
    }
  }
}
