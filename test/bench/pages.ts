import { setTimeout as delay } from "node:timers/promises";

/** What the overview asks for each time that somebody clicks. */
const QUESTIONS = [
  "usage?by=tool&since=7d",
  "usage?by=day,tool&since=7d",
  "usage?by=tool&since=14d&until=yesterday",
];
const CLICK_MS = 1_000;

/** Dashboards that are open. */
export interface OpenPages {
  /** Resolves when none asks any more. */
  close(): Promise<void>;
}

/** Opens so many dashboards of a daemon: each follows what is live, and somebody clicks in each once a second. */
export function openPages(url: string, count: number): OpenPages {
  const closing = new AbortController();
  const feeds = `${url}/_tollkeeper/v1/`;
  const pages = Array.from({ length: count }, () => [
    follow(`${feeds}live`, closing.signal),
    click(feeds, closing.signal),
  ]);
  return {
    async close() {
      closing.abort();
      await Promise.allSettled(pages.flat());
    },
  };
}

async function follow(feed: string, signal: AbortSignal): Promise<void> {
  const { body } = await fetch(feed, { signal });
  for await (const _ of body ?? []);
}

async function click(feeds: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await Promise.all(QUESTIONS.map(async (question) => (await fetch(feeds + question, { signal })).text()));
    await delay(CLICK_MS, null, { signal });
  }
}
