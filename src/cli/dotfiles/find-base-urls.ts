import { pathBelowPlan } from "../../core/plans/plan-paths.ts";
import { findAssignments, isCommentLine } from "../../core/text/assignments.ts";

/** A loopback URL that may be meant for tollkeeper. */
export interface FoundBaseUrl {
  /** From 1. */
  line: number;
  /** What it is assigned to; null for a URL that is not the value of an assignment. */
  name: string | null;
  port: number;
  /** The tool's mark, `/t/TOOL`; null without one. */
  mark: string | null;
  /** True when `/plan` follows the mark: the tool's own plan pays. */
  isPlan: boolean;
  /** True when its path ends in `/v1`. */
  hasVersion: boolean;
}

const LOOPBACK_URL =
  /\bhttps?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::(?<port>\d{1,5}))?(?<path>\/[\w./-]*)?/i;

/** Names that tools and libraries use for a base URL (docs/wire.md section 3). */
const BASE_URL_NAME = /(?<!data)base[_-]?url$|^api_?base$/i;

/** Finds the loopback URLs that have a tool's mark or one of `ports`, or are assigned to the name of a base URL. */
export function findBaseUrls(text: string, ports: readonly number[]): FoundBaseUrl[] {
  return text.split("\n").flatMap((line, i) => {
    if (isCommentLine(line)) return [];
    const named = findAssignments(line).flatMap(({ name, value }) => findUrl(name, value, ports));
    const found = named.length > 0 ? named : findUrl(null, line, ports);
    return found.map((url) => ({ line: i + 1, ...url }));
  });
}

/** As {@link findBaseUrls}, for the first URL of one value. `name` is null for text that is not an assignment's value. */
export function findUrl(
  name: string | null,
  value: string,
  ports: readonly number[],
): Omit<FoundBaseUrl, "line">[] {
  const { port: digits, path = "" } = LOOPBACK_URL.exec(value)?.groups ?? {};
  if (digits === undefined) return [];
  const port = Number(digits);
  const mark = /^\/t\/[A-Za-z0-9][\w.-]{0,63}/.exec(path)?.[0] ?? null;
  const isPlan = mark !== null && pathBelowPlan(path.slice(mark.length)) !== null;
  const isNamed = name !== null && BASE_URL_NAME.test(name);
  if (mark === null && !ports.includes(port) && !isNamed) return [];
  return [{ name, port, mark, isPlan, hasVersion: /\/v1\/?$/.test(path) }];
}
