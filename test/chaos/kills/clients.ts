import { once } from "node:events";
import { Agent, request, type ClientRequest, type IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { acrossMagnitudes, oneOf, type Random } from "../random.ts";
import { KINDS, type BookEntry, type Books, type Kind } from "./books.ts";
import { NUMBER_HEADER } from "./upstream.ts";

const SHORT: readonly Kind[] = ["short", "short stream"];
const LONG = KINDS.filter((kind) => !SHORT.includes(kind));

/** Short requests at a time, and long ones. */
const SHORT_CLIENTS = 12;
const LONG_CLIENTS = 16;

const BODY = JSON.stringify({ model: "m", stream: true, messages: "x".repeat(2000) });

/** Sends requests of all kinds to a daemon until it is killed, and books which were answered. Resolves when it is gone. */
export async function loadDaemon(port: number, books: Books, random: Random): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const client = async (kinds: readonly Kind[]) => {
    for (;;) {
      const entry = books.open(oneOf(random, kinds), acrossMagnitudes(random, 300, 6000));
      await send(port, agent, entry);
    }
  };
  const clients = [
    ...Array.from({ length: SHORT_CLIENTS }, () => client(SHORT)),
    ...Array.from({ length: LONG_CLIENTS }, () => client(LONG)),
  ];
  await Promise.allSettled(clients);
  agent.destroy();
}

/** Sends one request. Rejects when the daemon has gone. */
async function send(port: number, agent: Agent, entry: BookEntry): Promise<void> {
  const headers = {
    "content-type": "application/json",
    "content-length": BODY.length,
    [NUMBER_HEADER]: String(entry.number),
  };
  const path = "/v1/messages";
  const req = request({ host: "127.0.0.1", port, agent, method: "POST", path, headers });
  const responded = once(req, "response") as Promise<[IncomingMessage]>;
  responded.catch(() => {});
  req.on("error", () => {});
  if (entry.kind === "abandoned stream") return abandon(req, responded, entry);
  if (entry.kind === "slow upload") {
    req.write(BODY.slice(0, 1000));
    await Promise.race([delay(entry.lastsMs), responded]);
    req.end(BODY.slice(1000));
  } else req.end(BODY);
  const [res] = await responded;
  res.resume();
  await once(res, "close");
  if (!res.complete) throw new Error("the response broke off");
  entry.isAnswered = res.statusCode === 200;
}

/**
 * Leaves after a part of the time, counted from the response's head: who leaves before that cuts the request. The upstream has a grace
 * period longer than the rest. Rejects when the daemon has gone.
 */
async function abandon(req: ClientRequest, responded: Promise<[IncomingMessage]>, entry: BookEntry) {
  req.end(BODY);
  const [res] = await responded;
  res.on("error", () => {}).resume();
  const hasGone = once(res, "close").then(() => true);
  if (await Promise.race([delay(entry.lastsMs / 3, false), hasGone]))
    throw new Error("the response broke off");
  req.destroy();
}
