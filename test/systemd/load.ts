import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { MESSAGE_EVENTS, sendJson, SSE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { createAgent, LoadClient, openResponse, type ClientOptions } from "./clients.ts";
import { CONFIG, service, URL } from "./service.ts";
import { SERVICE_USER } from "./service-user.ts";

const KEY = `${SERVICE_USER.home}/.keys/example`;
const STREAM = { model: "claude-sonnet-5", max_tokens: 64, stream: true, messages: [] };
const RESPONSES_BETWEEN = 60;

/** Both addresses, with and without keep-alive. */
const CLIENTS: ClientOptions[] = (["127.0.0.1", "::1"] as const).flatMap((host) => [
  { host, keepsAlive: false },
  { host, keepsAlive: true },
]);

/** Configures an upstream that keeps its streams open after the first event, and installs the service before it. */
export async function installBeforeUpstream(t: TestContext): Promise<ServerResponse[]> {
  const held: ServerResponse[] = [];
  const upstream = await startUpstream(t, (seen, res) => {
    if (seen.method === "GET") return sendJson(res, { data: [] });
    res.writeHead(200, SSE).write(MESSAGE_EVENTS[0]);
    held.push(res);
  });
  service.ownFile(KEY, "some-key\n");
  const upstreams = { default: { baseUrl: upstream.baseUrl, keySource: { file: KEY } } };
  service.ownFile(CONFIG, JSON.stringify({ upstreams }));
  await service.mustRun("service", "install");
  return held;
}

/** Opens a stream through the service, each on a connection of its own. Resolves with its head. */
export function openStream(): Promise<IncomingMessage> {
  return openResponse(createAgent(), `${URL}/v1/messages`, STREAM);
}

/** Streams through the service that their upstream holds. */
export class HeldStreams {
  readonly #held: ServerResponse[];
  /** The bodies, once they have ended. */
  readonly bodies: Promise<string[]>;

  private constructor(held: ServerResponse[], streams: IncomingMessage[]) {
    this.#held = held;
    this.bodies = Promise.all(streams.map((stream) => text(stream)));
  }

  /** @param held the upstream's ends, from {@link installBeforeUpstream} */
  static async open(held: ServerResponse[], count: number): Promise<HeldStreams> {
    return new HeldStreams(held, await Promise.all(Array.from({ length: count }, openStream)));
  }

  /** Has the upstream send the rest of each. */
  end(): void {
    for (const res of this.#held.splice(0)) res.end(MESSAGE_EVENTS.slice(1).join(""));
  }
}

/** Clients of both addresses, with and without keep-alive, that send one short request after another. */
export class Load {
  readonly #clients = CLIENTS.map((options) => new LoadClient(createAgent(options), `${URL}/v1/models`));

  constructor(t: TestContext) {
    t.after(() => this.stop());
  }

  /** Waits until each client has received another {@link RESPONSES_BETWEEN} responses. */
  async waitForMore(): Promise<void> {
    const goals = this.#clients.map(({ responseCount }) => responseCount + RESPONSES_BETWEEN);
    await waitUntil(`${RESPONSES_BETWEEN} responses for each client`, () =>
      this.#clients.every(({ responseCount }, i) => responseCount >= (goals[i] ?? 0)) ? true : null,
    );
  }

  /** Resolves when the last response has arrived. */
  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.stop()));
  }

  /** One message for each request without a successful response. */
  get failures(): string[] {
    return this.#clients.flatMap(({ failures }) => failures);
  }

  get responseCount(): number {
    return this.#clients.reduce((sum, client) => sum + client.responseCount, 0);
  }

  /** How many responses each kind of client has received. */
  describe(): string {
    const kinds = CLIENTS.map(({ host, keepsAlive }, i) => {
      const kind = keepsAlive ? "keep-alive" : "fresh connections";
      return `${host}, ${kind}: ${this.#clients[i]?.responseCount} responses`;
    });
    return kinds.join("; ");
  }
}
