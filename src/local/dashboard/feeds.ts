import type { IncomingMessage, ServerResponse } from "node:http";
import { FEEDS_PATH } from "../../core/http/own-paths.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { SESSION_HEADER, TICKET_HEADER } from "./headers.ts";
import { SAFETY_HEADERS } from "./page.ts";
import { parseCostQuery, parseRecordsQuery, parseUsageQuery, type LedgerQuery } from "./query.ts";
import type { DashboardSessions } from "./sessions.ts";

/** How often what runs is sent, and so how soon a broken connection is noticed. */
const LIVE_MS = 1_000;
/** How much may wait for a page that does not read; more ends its feed. */
const MOST_WAITING_BYTES = 1024 * 1024;
const MOST_LIVE_FEEDS = 16;

/** Whose connection a request came on. */
interface Asker {
  /** True if the system says that it is our own user's. */
  readonly isOwn: boolean;
}

/** An answer of our own command. */
interface CommandAnswer {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** What the feeds tell. */
export interface FeedSources {
  /** True if a local token is needed for everything, so that to be our own user is not enough. */
  needsSession(): boolean;
  /** True once the daemon has begun to stop, which waits for no page. */
  isStopping(): boolean;
  status(): Promise<object>;
  running(): object;
  /** Calls back with each entry of the feed from now on, until the returned function is called. */
  subscribe(listener: (entry: object) => void): () => void;
  /** Has our own command answer. Null if too many questions wait. */
  ask(query: LedgerQuery, isOver: AbortSignal): Promise<CommandAnswer> | null;
  sessions: DashboardSessions;
}

type Respond = (res: ServerResponse, query: URLSearchParams, sources: FeedSources) => void | Promise<void>;

const FEED_RESPONSES: Record<string, Respond> = {
  status: async (res, _query, sources) => sendJson(res, 200, await sources.status()),
  running: (res, _query, sources) => sendJson(res, 200, sources.running()),
  usage: (res, query, sources) => answer(res, parseUsageQuery(query), "application/json", sources),
  cost: (res, query, sources) => answer(res, parseCostQuery(query), "application/json", sources),
  records: (res, query, sources) => answer(res, parseRecordsQuery(query), "application/x-ndjson", sources),
};

/** Returns what responds to requests for feeds. They change nothing, and leave no record. */
export function feedResponder(sources: FeedSources | null) {
  let liveFeeds = 0;
  return (req: IncomingMessage, res: ServerResponse, asker: Asker): void => {
    if (sources === null) return sendJson(res, 404, { error: "there is no such feed" });
    const { pathname, searchParams } = new URL(req.url ?? "", "http://localhost");
    const name = pathname.slice(FEEDS_PATH.length);
    if (name === "session") return exchangeTicket(req, res, sources);
    if (!isAdmitted(req, asker, sources))
      return sendJson(res, 401, { error: "this page needs a new ticket; type: tollkeeper dashboard" });
    if (name === "live") {
      if (liveFeeds >= MOST_LIVE_FEEDS)
        return sendJson(res, 503, { error: "too many pages are open; close one of them" });
      liveFeeds += 1;
      res.once("close", () => (liveFeeds -= 1));
      return streamLive(res, sources);
    }
    const respond = Object.hasOwn(FEED_RESPONSES, name) ? FEED_RESPONSES[name] : undefined;
    if (respond === undefined) return sendJson(res, 404, { error: "there is no such feed" });
    void Promise.resolve(respond(res, searchParams, sources)).catch(() =>
      sendJson(res, 500, { error: "the feed failed; see: tollkeeper service logs" }),
    );
  };
}

function isAdmitted({ headers }: IncomingMessage, { isOwn }: Asker, sources: FeedSources): boolean {
  if (isOwn && !sources.needsSession()) return true;
  const session = headers[SESSION_HEADER];
  return typeof session === "string" && sources.sessions.isValid(session);
}

function exchangeTicket({ headers }: IncomingMessage, res: ServerResponse, { sessions }: FeedSources): void {
  const ticket = headers[TICKET_HEADER];
  const session = typeof ticket === "string" ? sessions.exchange(ticket) : null;
  if (session === null) sendJson(res, 401, { error: "this ticket is not valid; type: tollkeeper dashboard" });
  else sendJson(res, 200, { session });
}

/** A question that our command does not understand is the asker's fault. */
async function answer(
  res: ServerResponse,
  query: LedgerQuery | string,
  type: string,
  sources: FeedSources,
): Promise<void> {
  if (typeof query === "string") return sendJson(res, 400, { error: toPrintable(query) });
  const isOver = new AbortController();
  res.once("close", () => isOver.abort());
  const asked = sources.ask(query, isOver.signal);
  if (asked === null) return sendJson(res, 503, { error: "too many questions at a time; try again" });
  const { code, stdout, stderr } = await asked;
  if (code === 0) return send(res, 200, type, stdout);
  const error =
    /^error: (.*)$/m.exec(stderr)?.[1] ??
    "the answer took too long, or is too long; ask for a shorter period";
  sendJson(res, code === 2 ? 400 : 500, { error });
}

/** Server-sent events (WHATWG HTML section 9.2): `running` each second, and each entry of the feed as it comes. */
function streamLive(res: ServerResponse, { isStopping, running, subscribe }: FeedSources): void {
  const headers = ["content-type", "text/event-stream; charset=utf-8", ...SAFETY_HEADERS];
  res.writeHead(200, headers);
  const write = (event: string, data: object) => {
    res.write(`event: ${event}\ndata: ${toPrintable(JSON.stringify(data))}\n\n`);
    if (res.writableLength > MOST_WAITING_BYTES) res.destroy();
  };
  const renew = () => {
    if (isStopping()) res.end();
    else write("running", running());
  };
  renew();
  const timer = setInterval(renew, LIVE_MS);
  timer.unref();
  const stop = subscribe((entry) => write("entry", entry));
  res.once("close", () => {
    clearInterval(timer);
    stop();
  });
}

function sendJson(res: ServerResponse, status: number, value: object): void {
  send(res, status, "application/json", JSON.stringify(value));
}

function send(res: ServerResponse, status: number, type: string, text: string): void {
  if (res.headersSent || res.destroyed) return;
  const body = Buffer.from(text);
  const own = ["content-type", type, "content-length", String(body.length)];
  res.writeHead(status, [...own, ...SAFETY_HEADERS]).end(body);
}
