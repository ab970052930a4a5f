import { FEEDS_PATH } from "../../../core/http/own-paths.ts";
import { SESSION_HEADER, TICKET_HEADER } from "../headers.ts";
import type { PricedRecord } from "./feed-types.ts";

const SESSION = "tollkeeper-session";
const TICKET = /^#ticket=([\w-]+)$/;
const RECONNECT_MS = 1_000;

/** A feed has refused to answer; the message says why, in words. */
export class FeedError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Exchanges the ticket in the URL, if there is one, for a session of this tab, and takes it out of the URL. */
export async function takeTicket(): Promise<void> {
  const ticket = TICKET.exec(location.hash)?.[1];
  if (ticket === undefined) return;
  history.replaceState(null, "", "/");
  const res = await fetch(`${FEEDS_PATH}session`, { headers: { [TICKET_HEADER]: ticket } });
  if (!res.ok) return;
  const { session } = (await res.json()) as { session: string };
  sessionStorage.setItem(SESSION, session);
}

async function ask(path: string, signal: AbortSignal | null): Promise<Response> {
  const session = sessionStorage.getItem(SESSION);
  const headers: HeadersInit = session === null ? {} : { [SESSION_HEADER]: session };
  const res = await fetch(FEEDS_PATH + path, { headers, signal, cache: "no-store" });
  if (res.ok) return res;
  const { error } = (await res.json().catch(() => ({}))) as { error?: string };
  throw new FeedError(res.status, error ?? `the daemon answered ${res.status}`);
}

/** Returns what a feed says now. Throws a FeedError, or another one where no daemon answers. */
export async function readFeed<Answer>(
  name: string,
  query: Readonly<Record<string, string>> = {},
  signal: AbortSignal | null = null,
): Promise<Answer> {
  const text = new URLSearchParams(query).toString();
  return (await (await ask(text === "" ? name : `${name}?${text}`, signal)).json()) as Answer;
}

/** Returns the last records of the ledger, the newest last. */
export async function readRecords(
  query: Readonly<Record<string, string>>,
  signal: AbortSignal | null = null,
): Promise<PricedRecord[]> {
  const text = await (await ask(`records?${new URLSearchParams(query).toString()}`, signal)).text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as PricedRecord);
}

interface LiveEvents {
  onEvent(event: string, data: unknown): void;
  /** null while the feed is open. */
  onState(problem: string | null): void;
}

/** Follows what happens, for as long as the page is open; goes on after the daemon was away. */
export async function followLive({ onEvent, onState }: LiveEvents): Promise<never> {
  for (;;) {
    try {
      const { body } = await ask("live", null);
      onState(null);
      if (body !== null) for await (const [event, data] of eventsIn(body)) onEvent(event, data);
      onState("The daemon has stopped; waiting for the next one.");
    } catch (error) {
      onState(error instanceof FeedError ? error.message : "The daemon does not respond; waiting for it.");
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}

/** Parses server-sent events. `EventSource` cannot send a session. */
async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<[event: string, data: unknown]> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? [];
      if (event !== undefined && data !== undefined) yield [event, JSON.parse(data)];
    }
  }
}
