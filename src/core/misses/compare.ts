import { MARK_1H, MARK_5M, UNSURE } from "./part-hasher.ts";
import { ABSENT, type Prompt } from "./prompt.ts";

const MINUTE_MS = 60_000;

/** What is known of an earlier request of a conversation whose response has ended. */
export interface Earlier {
  model: string | null;
  prompt: Prompt;
  /** How many tokens of it were in the cache: those that it read, and those that it wrote. */
  cached: number;
  /** How long the entries without marks live that it wrote, such as `30m`; null where that is not known. */
  life: keyof typeof LIVES | null;
  /** True if the service has said that something was written: only then do marks have a meaning for it. */
  wrote: boolean;
  /** When its response ended, in milliseconds since 1970. */
  endedAt: number;
}

/** A request that read less than an earlier one had in the cache. */
interface Later {
  model: string | null;
  prompt: Prompt;
  /** True for the Messages API, whose rules for thinking and the choice of tools are documented. */
  isMessages: boolean;
  /** True for the Responses API, in whose words its input is meant. */
  isResponses: boolean;
  /** What it read from the cache, in tokens. */
  read: number;
  /** When it arrived, in milliseconds since 1970. */
  at: number;
}

/** How long entries of a cache live that are not used, in milliseconds. */
export const LIVES = {
  "5m": 5 * MINUTE_MS,
  "30m": 30 * MINUTE_MS,
  "1h": 60 * MINUTE_MS,
  "12h": 12 * 60 * MINUTE_MS,
} as const;

/** Parts that differed without a miss, so that a difference in them says nothing. */
export type Harmless = Readonly<Record<"tools" | "system" | "toolChoice" | "thinking" | "cacheKey", boolean>>;

/** Returns the reason for a miss, as far as the two requests say it for certain; else `unknown`. */
export function inferReason(earlier: Earlier, later: Later, harmless: Harmless): string {
  const [one, other] = [earlier.prompt, later.prompt];
  const hasChanged = (part: keyof Harmless) => !harmless[part] && differs(one[part], other[part]);
  const idle = findIdle(earlier, later);
  if (idle !== null) return idle;
  if (earlier.model !== later.model) return "model_changed";
  if (one.marks !== 0 && other.marks === 0) return "marks_removed";
  // Tools come first in a prompt: what is read in spite of a change is not explained by it.
  if (differs(one.tools, other.tools))
    return hasChanged("tools") && later.read === 0 ? "tools_changed" : "unknown";
  if (hasChanged("system")) return "system_changed";
  // These leave the entries of tools and system prompt as they are.
  if (later.isMessages && later.read > 0 && hasChanged("toolChoice")) return "tool_choice_changed";
  if (later.isMessages && later.read > 0 && hasChanged("thinking")) return "thinking_changed";
  if (hasChanged("cacheKey")) return "prompt_cache_key_changed";
  const at = findChange(one, other);
  const isCached = at !== -1 && (one.marks === 0 || at <= one.lastMarked);
  if (isCached && (at === 0 || later.read > 0))
    return later.isResponses ? "input_changed" : "messages_changed";
  return "unknown";
}

/** True if two hashes are known to be of different values. */
export function differs(one: number, other: number): boolean {
  return one !== other && one !== UNSURE && other !== UNSURE;
}

/** True if nothing but the messages is known to differ. */
export function hasSameSettings(one: Prompt, other: Prompt): boolean {
  // Member by member, because every request is compared: going through a list of names takes longer.
  return !(
    differs(one.tools, other.tools) ||
    differs(one.system, other.system) ||
    differs(one.toolChoice, other.toolChoice) ||
    differs(one.thinking, other.thinking) ||
    differs(one.cacheKey, other.cacheKey) ||
    differs(one.others, other.others)
  );
}

/** Returns the first message that both have and that is known to differ; -1 without one. */
function findChange(one: Prompt, other: Prompt): number {
  if (other.previous !== ABSENT) return -1;
  const both = Math.min(one.messages.length, other.messages.length);
  for (let at = 0; at < both; at += 1) if (differsAt(one, other, at)) return at;
  return -1;
}

/**
 * True if a message is known to differ. Tools write the message that has a mark as a list of blocks, and as a text once the mark has moved on,
 * which is the same to the cache.
 */
export function differsAt(one: Prompt, other: Prompt, at: number): boolean {
  const isMarkedAlike = one.marked.includes(at) === other.marked.includes(at);
  return isMarkedAlike && differs(one.messages[at] ?? 0, other.messages[at] ?? 0);
}

/** Returns e.g. `idle_5m` if the entries had certainly expired; null if they had not, or it is not known. */
function findIdle({ prompt, life, wrote, endedAt }: Earlier, { read, at }: Later): string | null {
  const idle = at - endedAt;
  const { marks } = prompt;
  if (marks !== 0 && !wrote) return null;
  if (marks === MARK_5M || marks === MARK_1H) {
    const marked = marks === MARK_5M ? "5m" : "1h";
    return idle > LIVES[marked] ? `idle_${marked}` : null;
  }
  // What lives an hour stands before what lives five minutes.
  if (marks === (MARK_5M | MARK_1H)) {
    if (idle > LIVES["1h"]) return "idle_1h";
    return idle > LIVES["5m"] && read > 0 ? "idle_5m" : null;
  }
  return marks === 0 && life !== null && idle > LIVES[life] ? `idle_${life}` : null;
}
