import type { OfferedTool, ReadMessage, ReadRequest } from "./read-request.ts";

/** The parts of a request, in the order in which services cache them. */
const PARTS = ["settings", "tools", "system prompt", "messages"] as const;

/** A text, and another in its place, from some characters before their first difference. */
interface ChangedText {
  /** Characters that are the same before it. */
  same: number;
  before: string;
  after: string;
}

/** What a second request has otherwise than a first. */
export interface Comparison {
  /** Settings with another value; null where one request has none. */
  settings: { name: string; before: string | null; after: string | null }[];
  tools: {
    added: OfferedTool[];
    removed: OfferedTool[];
    changed: { before: OfferedTool; after: OfferedTool }[];
    /** True if the same tools come in another order. */
    isReordered: boolean;
  };
  /** null if it is the same. */
  system: ChangedText | null;
  messages: {
    /** How many are the same from the beginning on. */
    same: number;
    before: number;
    after: number;
    /** The first that both have and that differs; null if the second request only goes on, or ends earlier. */
    changed: { role: string; text: ChangedText } | null;
  };
  /** The first part that differs before the end of the first request; null if the second one only goes on. */
  breaksAt: (typeof PARTS)[number] | null;
}

/** Settings by which services keep caches apart. Others may change without a miss. */
const CACHED_BY = new Set(["model", "prompt_cache_key", "tool_choice", "thinking", "reasoning", "text"]);

/** Characters that are shown of a difference, and before it. */
const [SHOWN, SHOWN_BEFORE] = [120, 40];

/** Compares two requests. */
export function compareRequests(before: ReadRequest, after: ReadRequest): Comparison {
  const settings = compareSettings(before, after);
  const tools = compareTools(before.tools, after.tools);
  const system = compareTexts(textOfSystem(before), textOfSystem(after));
  const messages = compareMessages(before.messages, after.messages);
  const differs = {
    settings: settings.some(({ name }) => CACHED_BY.has(name)),
    tools: tools.added.length + tools.removed.length + tools.changed.length > 0 || tools.isReordered,
    "system prompt": system !== null,
    messages: messages.same < messages.before,
  };
  return { settings, tools, system, messages, breaksAt: PARTS.find((part) => differs[part]) ?? null };
}

function compareSettings(before: ReadRequest, after: ReadRequest): Comparison["settings"] {
  const [old, now] = [new Map(before.settings), new Map(after.settings)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((name) => ({ name, before: old.get(name) ?? null, after: now.get(name) ?? null }))
    .filter((setting) => setting.before !== setting.after);
}

function compareTools(before: readonly OfferedTool[], after: readonly OfferedTool[]): Comparison["tools"] {
  const [old, now] = [before, after].map((tools) => new Map(tools.map((tool) => [tool.name, tool])));
  const kept = after.filter(({ name }) => old?.has(name) === true).map(({ name }) => name);
  const order = before.filter(({ name }) => now?.has(name) === true).map(({ name }) => name);
  return {
    added: after.filter(({ name }) => old?.has(name) !== true),
    removed: before.filter(({ name }) => now?.has(name) !== true),
    changed: after.flatMap((tool) => {
      const known = old?.get(tool.name);
      return known === undefined || known.comparable === tool.comparable
        ? []
        : [{ before: known, after: tool }];
    }),
    isReordered: kept.join("\n") !== order.join("\n"),
  };
}

function textOfSystem({ system }: ReadRequest): string {
  return system.map(({ kind, text }) => (kind === "text" ? text : `[${kind}] ${text}`)).join("\n");
}

function compareMessages(
  before: readonly ReadMessage[],
  after: readonly ReadMessage[],
): Comparison["messages"] {
  let same = 0;
  while (same < before.length && before[same]?.comparable === after[same]?.comparable) same += 1;
  const [old, now] = [before[same], after[same]];
  const text = old === undefined || now === undefined ? null : compareTexts(old.comparable, now.comparable);
  return {
    same,
    before: before.length,
    after: after.length,
    changed: text === null || now === undefined ? null : { role: now.role, text },
  };
}

function compareTexts(before: string, after: string): ChangedText | null {
  if (before === after) return null;
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  const from = Math.max(0, same - SHOWN_BEFORE);
  return { same, before: before.slice(from, same + SHOWN), after: after.slice(from, same + SHOWN) };
}
