import type { TestContext } from "node:test";
import type { FeedSources } from "../../../src/local/dashboard/feeds.ts";
import { ApprovedPages } from "../../../src/local/dashboard/approved-pages.ts";
import { respondWithMessage } from "../upstream/scripted-upstream.ts";
import { startGateWithUpstream } from "./gate-with-upstream.ts";
import type { GateOptions } from "./gate.ts";
import { peersOf, realClock } from "./memory.ts";

export const FEEDS = "/_tollkeeper/v1";
const OWN = process.getuid?.() ?? 0;

/** Starts a gate whose feeds tell what is given, to a client whom the system names so; ours by default. */
export async function startFeeds(
  t: TestContext,
  given: Partial<FeedSources> &
    Pick<GateOptions, "config" | "tokens"> & { uid?: number | null; peerUid?: number[] } = {},
) {
  const { uid = OWN, peerUid = [], config, tokens, ...changes } = given;
  const sessions = new ApprovedPages(realClock);
  const feeds: FeedSources = {
    needsSession: () => false,
    isStopping: () => false,
    status: () => Promise.resolve({ state: "serving" }),
    running: () => ({ total: 0, requests: [] }),
    outOfLine: () => Promise.resolve(null),
    subscribe: () => () => {},
    ask: (query) => Promise.resolve({ code: 0, stdout: JSON.stringify(query), stderr: "" }),
    sessions,
    ...changes,
  };
  const { gate, upstream } = await startGateWithUpstream(t, respondWithMessage, {
    feeds,
    peers: peersOf(uid),
    config: { access: { mode: "open", peerUid }, ...config },
    ...(tokens !== undefined && { tokens }),
  });
  const ask = (name: string, headers: Record<string, string> = {}) =>
    fetch(`${gate.url}${FEEDS}/${name}`, { headers });
  return { gate, upstream, sessions, ask };
}

/** Requests a session as a page does, approves it as a person does, and returns it. */
export function openSession(sessions: ApprovedPages): string {
  const { ticket, code } = sessions.request(null, null);
  if (code === null || !sessions.approve(code)) throw new Error("the code is not accepted");
  const { session } = sessions.request(null, ticket);
  if (session === null) throw new Error("there is no session for the ticket");
  return session;
}
