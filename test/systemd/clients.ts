import { Agent, request, type IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { text } from "node:stream/consumers";
import { USER } from "./user.ts";

/** How a client goes about it. */
export interface Manner {
  host: "127.0.0.1" | "::1";
  /** Does it use a connection again? */
  keepsAlive: boolean;
}

/**
 * Gives an address of loopback as the user that owns the service: the daemon lets in no other, and in its sandbox not even
 * root. Node makes the socket while it is told the address, and the kernel books it on whoever makes it.
 */
const lookupAsUser: LookupFunction = (_host, { family }, tell) => {
  process.seteuid?.(USER.uid);
  try {
    tell(null, family === 6 ? "::1" : "127.0.0.1", Number(family));
  } finally {
    process.seteuid?.(0);
  }
};

/** Connections for one client; at most one at a time. */
export function clientAgent({ host, keepsAlive }: Manner = { host: "127.0.0.1", keepsAlive: false }): Agent {
  return new Agent({
    lookup: lookupAsUser,
    family: host === "::1" ? 6 : 4,
    keepAlive: keepsAlive,
    maxSockets: 1,
  });
}

/** What came back, read to its end. */
export interface Answer {
  status: number;
  body: string;
}

/** Sends a request, with a JSON body when there is one. Rejects when nothing comes back, or not all of it. */
export async function ask(agent: Agent, url: string, body?: object): Promise<Answer> {
  const answer = await open(agent, url, body);
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}

/** The same, as far as the head of the answer. */
export function open(agent: Agent, url: string, body?: object): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    request(url, { agent, method, headers })
      .once("response", resolve)
      .once("error", reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** One request whose progress can be looked at. */
export class Knock {
  isConnected = false;
  isAnswered = false;
  /** Of the answer. */
  readonly status: Promise<number>;

  constructor(url: string) {
    this.status = new Promise((resolve, reject) => {
      request(url, { agent: clientAgent() })
        .once("socket", (socket) => socket.once("connect", () => (this.isConnected = true)))
        .once("response", (answer) => {
          this.isAnswered = true;
          answer.resume();
          resolve(answer.statusCode ?? 0);
        })
        .once("error", reject)
        .end();
    });
  }
}

/** A client that asks again as soon as it has an answer, until it is stopped. */
export class LoadClient {
  readonly #agent: Agent;
  readonly #url: string;
  readonly #done: Promise<void>;
  #isStopped = false;
  answered = 0;
  /** What went wrong instead of an answer, each time. */
  readonly failures: string[] = [];

  constructor(agent: Agent, url: string) {
    this.#agent = agent;
    this.#url = url;
    this.#done = this.#run();
  }

  /** Resolves when the last answer is there. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
    this.#agent.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        const { status } = await ask(this.#agent, this.#url);
        if (status === 200) this.answered += 1;
        else this.failures.push(`status ${status}`);
      } catch (error) {
        this.failures.push(error instanceof Error ? error.message : String(error));
      }
    }
  }
}
