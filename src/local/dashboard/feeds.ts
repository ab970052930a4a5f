import type { IncomingMessage, ServerResponse } from "node:http";
import { isFromBrowser } from "../../core/http/admission.ts";
import { FEEDS_PATH } from "../../core/http/own-paths.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { PAGE_HEADER, SESSION_HEADER, TICKET_HEADER, type RequestedSession } from "./headers.ts";
import { SAFETY_HEADERS } from "./page.ts";
import {
  parseCostQuery,
  parseLimitsQuery,
  parseRecordsQuery,
  parseUsageQuery,
  type LedgerQuery,
} from "./query.ts";
import type { ApprovedPages } from "./approved-pages.ts";

/** How often what runs is sent, and so how soon a broken connection is noticed. */
const LIVE_MS = 1_000;
/** How much may wait for a page that does not read; more ends its feed. */
const MOST_WAITING_BYTES = 1024 * 1024;
const MOST_LIVE_FEEDS = 16;

/** Whose connection a request came on. */
interface Asker {
  /** True if the system says that it is our own user's. */
  readonly isOwn: boolean;
  /** False where the system does not tell. */
  readonly isKnown: boolean;
}

/** The path and the query of a request, exactly as they were received. */
interface Target {
  path: string;
  query: string;
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
  /** What is out of line today; null where that cannot be found. */
  outOfLine(): Promise<object | null>;
  /** Has our own command answer. Null if too many questions wait. */
  ask(query: LedgerQuery, isOver: AbortSignal): Promise<CommandAnswer> | null;
  sessions: ApprovedPages;
}

type Respond = (res: ServerResponse, query: URLSearchParams, sources: FeedSources) => void | Promise<void>;

const FEED_RESPONSES: Record<string, Respond> = {
  status: async (res, _query, sources) => sendJson(res, 200, await sources.status()),
  running: (res, _query, sources) => sendJson(res, 200, sources.running()),
  "out-of-line": async (res, _query, sources) => sendJson(res, 200, { today: await sources.outOfLine() }),
  usage: (res, query, sources) => answer(res, parseUsageQuery(query), "application/json", sources),
  cost: (res, query, sources) => answer(res, parseCostQuery(query), "application/json", sources),
  limits: (res, query, sources) => answer(res, parseLimitsQuery(query), "application/json", sources),
  records: (res, query, sources) => answer(res, parseRecordsQuery(query), "application/x-ndjson", sources),
};

/** Returns what responds to requests for feeds. They change nothing, and leave no record. */
export function feedResponder(sources: FeedSources | null) {
  let liveFeeds = 0;
  return (req: IncomingMessage, res: ServerResponse, asker: Asker, { path, query }: Target): void => {
    if (sources === null) return sendJson(res, 404, { error: "there is no such feed" });
    if (!isPageOrProgram(req, sources))
      return sendJson(res, 403, { error: "only the dashboard's own page may read this; reload it" });
    const name = path.slice(FEEDS_PATH.length);
    if (name === "session") return requestSession(req, res, asker, sources);
    const isAllowed = () => isAdmitted(req, asker, sources);
    if (!isAllowed())
      return sendJson(res, 401, { error: "this page is not approved; type: tollkeeper dashboard" });
    if (name === "live") {
      if (liveFeeds >= MOST_LIVE_FEEDS)
        return sendJson(res, 503, { error: "too many pages are open; close one of them" });
      liveFeeds += 1;
      res.once("close", () => (liveFeeds -= 1));
      return streamLive(res, sources, isAllowed);
    }
    const respond = Object.hasOwn(FEED_RESPONSES, name) ? FEED_RESPONSES[name] : undefined;
    if (respond === undefined) return sendJson(res, 404, { error: "there is no such feed" });
    void Promise.resolve(respond(res, new URLSearchParams(query), sources)).catch(() =>
      sendJson(res, 500, { error: "the feed failed; see: tollkeeper service logs" }),
    );
  };
}

/** True for our own page, and for a program that is no browser. Any other document of our origin is refused (SECURITY.md F9). */
function isPageOrProgram({ headers }: IncomingMessage, { sessions }: FeedSources): boolean {
  if (!isFromBrowser({ has: (name) => headers[name] !== undefined })) return true;
  const key = headers[PAGE_HEADER];
  return typeof key === "string" && sessions.isPage(key);
}

function isAdmitted(req: IncomingMessage, asker: Asker, sources: FeedSources): boolean {
  if (needsNoSession(asker, sources)) return true;
  const session = headerOf(req, SESSION_HEADER);
  return !isAnothers(asker) && session !== null && sources.sessions.isValid(session);
}

function needsNoSession({ isOwn }: Asker, sources: FeedSources): boolean {
  return isOwn && !sources.needsSession();
}

/** True for a connection of another user, as the system says. */
function isAnothers({ isKnown, isOwn }: Asker): boolean {
  return isKnown && !isOwn;
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return typeof value === "string" ? value : null;
}

/** Tells a page whether it needs a session, and how it stands with the one that it has or waits for. */
function requestSession(req: IncomingMessage, res: ServerResponse, asker: Asker, sources: FeedSources): void {
  if (isAnothers(asker)) return sendJson(res, 401, { error: "the dashboard is for the daemon's own user" });
  const none: RequestedSession = { session: null, ticket: null, code: null };
  if (needsNoSession(asker, sources)) return sendJson(res, 200, none);
  const [session, ticket] = [headerOf(req, SESSION_HEADER), headerOf(req, TICKET_HEADER)];
  sendJson(res, 200, sources.sessions.request(session, ticket));
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

/**
 * Sends server-sent events (WHATWG HTML section 9.2): `running` each second, and each entry of the feed as it comes, until the page
 * may not read them any more.
 */
function streamLive(
  res: ServerResponse,
  { isStopping, running, subscribe }: FeedSources,
  isAllowed: () => boolean,
): void {
  const headers = ["content-type", "text/event-stream; charset=utf-8", ...SAFETY_HEADERS];
  res.writeHead(200, headers);
  const write = (event: string, data: object) => {
    res.write(`event: ${event}\ndata: ${toPrintable(JSON.stringify(data))}\n\n`);
    if (res.writableLength > MOST_WAITING_BYTES) res.destroy();
  };
  const renew = () => {
    if (isStopping() || !isAllowed()) res.end();
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
