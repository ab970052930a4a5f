import { FEEDS_PATH } from "../../../core/http/own-paths.ts";
import { PAGE_HEADER, SESSION_HEADER, TICKET_HEADER, type RequestedSession } from "../headers.ts";
import type { PricedRecord } from "./feed-types.ts";

const SESSION = "tollkeeper-session";
const TO_SEE_WHY = "To see why, type: tollkeeper doctor";
const RECONNECT_MS = 1_000;
/** How soon an approval is noticed. */
const APPROVAL_MS = 1_000;
/** The daemon answers only the page that has it. */
const PAGE_KEY = document.querySelector<HTMLMetaElement>('meta[name="page-key"]')?.content ?? "";
/** The daemon does not know this page: it has another key since it was restarted. */
const UNKNOWN_PAGE = 403;
let wasKnown = false;
/** What this page waits with. In no storage, where an earlier page of this address could have planted its own. */
let ticket: string | null = null;

/** A feed has refused to answer; the message says why, in words. */
export class FeedError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Removes service workers. tollkeeper has none: an earlier program at this address has left them, and they may see what this page
 * receives. Resolves to true if there were any.
 */
export async function removeWorkers(): Promise<boolean> {
  // Only on this machine's own names.
  if (!("serviceWorker" in navigator)) return false;
  const workers = await navigator.serviceWorker.getRegistrations();
  await Promise.all(workers.map((worker) => worker.unregister()));
  return workers.length > 0 || navigator.serviceWorker.controller !== null;
}

/**
 * Resolves once this page may read feeds. Where a person has to approve it, calls back with the code that they have to type, with
 * another one when that has expired, and with null in the end.
 */
async function signIn(onCode: (code: string | null) => void): Promise<void> {
  for (;;) {
    const answer = (await (await ask("session", null, ticket)).json()) as RequestedSession;
    ({ ticket } = answer);
    if (answer.session === null) sessionStorage.removeItem(SESSION);
    else sessionStorage.setItem(SESSION, answer.session);
    // A ticket that still waits comes without its code.
    if (ticket === null || answer.code !== null) onCode(answer.code);
    if (ticket === null) return;
    await new Promise((resolve) => setTimeout(resolve, APPROVAL_MS));
  }
}

async function ask(
  path: string,
  signal: AbortSignal | null,
  waitingWith: string | null = null,
): Promise<Response> {
  const session = sessionStorage.getItem(SESSION);
  const headers = {
    [PAGE_HEADER]: PAGE_KEY,
    ...(session !== null && { [SESSION_HEADER]: session }),
    ...(waitingWith !== null && { [TICKET_HEADER]: waitingWith }),
  };
  const res = await fetch(FEEDS_PATH + path, { headers, signal, cache: "no-store" });
  if (res.ok) {
    wasKnown = true;
    return res;
  }
  if (res.status === UNKNOWN_PAGE && wasKnown) location.reload();
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
  /** As {@link signIn} calls it. */
  onCode(code: string | null): void;
  onEvent(event: string, data: unknown): void;
  /** null while the feed is open. */
  onState(problem: string | null): void;
}

/** Follows what happens, for as long as the page is open; goes on after the daemon was away. */
export async function followLive({ onCode, onEvent, onState }: LiveEvents): Promise<never> {
  for (;;) {
    try {
      await signIn(onCode);
      const { body } = await ask("live", null);
      onState(null);
      if (body !== null) for await (const [event, data] of eventsIn(body)) onEvent(event, data);
      onState(`The daemon has stopped; waiting for the next one. ${TO_SEE_WHY}`);
    } catch (error) {
      onState(
        error instanceof FeedError
          ? error.message
          : `The daemon does not respond; waiting for it. ${TO_SEE_WHY}`,
      );
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
