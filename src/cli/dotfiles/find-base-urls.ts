import { findAssignments, isComment } from "../../core/text/assignments.ts";

/** A URL on this machine that may have been meant for tollkeeper. */
export interface FoundBaseUrl {
  /** From 1. */
  line: number;
  /** What it is assigned to; null where that cannot be told. */
  name: string | null;
  port: number;
  /** `/t/TOOL` with what may follow of `/v1`; null without that mark. */
  mark: string | null;
  /** Does its path end in `/v1`? */
  hasVersion: boolean;
}

const LOOPBACK_URL =
  /\bhttps?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::(?<port>\d{1,5}))?(?<path>\/[\w./-]*)?/i;

/** Names that tools and libraries have for a base URL (facts/clients.md section 4). */
const BASE_URL_NAME = /(?<!data)base[_-]?url$|^api_?base$/i;

/** Finds those that are marked as tollkeeper's, or stand where a tool's base URL does, or have one of `ports`. */
export function findBaseUrls(text: string, ports: readonly number[]): FoundBaseUrl[] {
  return text.split("\n").flatMap((line, i) => {
    if (isComment(line)) return [];
    const named = findAssignments(line).flatMap(({ name, value }) => urlIn(name, value, ports));
    const found = named.length > 0 ? named : urlIn(null, line, ports);
    return found.map((url) => ({ line: i + 1, ...url }));
  });
}

/** The first URL in a value; `name` null for a value without one. At most one. */
export function urlIn(
  name: string | null,
  value: string,
  ports: readonly number[],
): Omit<FoundBaseUrl, "line">[] {
  const { port: digits, path = "" } = LOOPBACK_URL.exec(value)?.groups ?? {};
  if (digits === undefined) return [];
  const port = Number(digits);
  const mark = /^\/t\/[A-Za-z0-9][\w.-]{0,63}/.exec(path)?.[0] ?? null;
  const isNamed = name !== null && BASE_URL_NAME.test(name);
  if (mark === null && !ports.includes(port) && !isNamed) return [];
  return [{ name, port, mark, hasVersion: /\/v1\/?$/.test(path) }];
}
