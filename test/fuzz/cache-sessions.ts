import assert from "node:assert/strict";
import * as fc from "fast-check";
import { MINUTE, Script } from "../core/misses/script.ts";
import { property, type Property } from "./property.ts";

type Json = Record<string, unknown>;

/** What happens before the next request of a session. */
interface Step {
  /** Minutes. */
  idle: number;
  model: number;
  tools: number;
  system: number;
  thinking: number;
  /** An earlier message that is changed; -1 for none. */
  edit: number;
  /** True if the service drops all that it has cached. */
  isDropped: boolean;
}

/** Usually 0: what does not change is most of what happens. */
const seldom = fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) });

const step: fc.Arbitrary<Step> = fc.record({
  idle: fc.constantFrom(0.1, 0.1, 1, 4, 7, 70),
  model: seldom,
  tools: seldom,
  system: seldom,
  thinking: seldom,
  edit: fc.oneof({ weight: 5, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fc.nat(9) }),
  isDropped: fc.oneof(
    { weight: 5, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
});

const LIFE_MS = 5 * MINUTE;
/** Tokens of each part of a prompt. */
const TOKENS = { tools: 8_000, system: 4_000, message: 3_000 };

/** A cache as that of the Messages API: an entry for each mark, and for each prompt that was sent before. */
class Service {
  readonly #entries = new Map<string, { tokens: number; usedAt: number }>();

  answer(prefixes: readonly { key: string; tokens: number }[], at: number) {
    const isAlive = (key: string) => (this.#entries.get(key)?.usedAt ?? -Infinity) + LIFE_MS >= at;
    const read = prefixes.findLast(({ key }) => isAlive(key))?.tokens ?? 0;
    for (const { key, tokens } of prefixes)
      if (this.#entries.has(key) ? isAlive(key) || tokens > read : true)
        this.#entries.set(key, { tokens, usedAt: at });
    const all = prefixes.at(-1)?.tokens ?? 0;
    return { read, write: all - read, uncached: 50 };
  }

  drop(): void {
    this.#entries.clear();
  }
}

interface Sent {
  settings: string;
  model: number;
  tools: number;
  system: number;
  thinking: number;
  at: number;
}

/** What would be wrong about a reason; null if it is right. */
function findFault(miss: string, now: Sent, past: readonly Sent[], isEdited: boolean): string | null {
  const alike = past.findLast(({ settings }) => settings === now.settings);
  const last = alike ?? past.at(-1);
  const hasChanged = (part: "model" | "tools" | "system" | "thinking") =>
    past.at(-1)?.[part] !== now[part] || (alike === undefined && past.some((one) => one[part] !== now[part]));
  const differs = (part: "model" | "tools" | "system" | "thinking") =>
    hasChanged(part) ? null : `${part} did not change`;
  switch (miss) {
    case "unknown":
      return null;
    case "idle_5m":
      return last !== undefined && now.at - last.at > LIFE_MS ? null : "it was not idle";
    case "model_changed":
      return differs("model");
    case "tools_changed":
      return differs("tools");
    case "system_changed":
      return differs("system");
    case "thinking_changed":
      return differs("thinking");
    case "messages_changed":
      return isEdited ? null : "no message changed";
    default:
      return `there is no reason ${miss} here`;
  }
}

const MARK = { cache_control: { type: "ephemeral" } };

export const CACHE_SESSIONS: readonly Property[] = [
  property(
    "cache sessions: whatever happens between the requests of a session, no reason is wrong, and without a cause nothing is missed",
    { batch: 60 },
    fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
      const [script, service] = [new Script("messages"), new Service()];
      const past: Sent[] = [];
      const messages: string[] = ["message 0"];
      let [edits, lastEdits] = [0, 0];
      for (const { idle, edit, isDropped, ...parts } of steps) {
        script.wait(idle * MINUTE);
        if (isDropped) service.drop();
        if (edit >= 0 && edit < messages.length) messages[edit] = `edited ${++edits}`;
        const { model, tools, system, thinking } = parts;
        const now: Sent = { settings: JSON.stringify(parts), ...parts, at: script.at };
        const start = JSON.stringify([model, tools]);
        const prefixes = [
          { key: `${start}|${system}`, tokens: TOKENS.tools + TOKENS.system },
          ...messages.map((_, count) => ({
            key: JSON.stringify([start, system, thinking, messages.slice(0, count + 1)]),
            tokens: TOKENS.tools + TOKENS.system + (count + 1) * TOKENS.message,
          })),
        ];
        const body: Json = {
          model: `model-${model}`,
          stream: true,
          thinking: { budget_tokens: thinking },
          tools: [{ name: `tool-${tools}`, ...MARK }],
          system: [{ type: "text", text: `system ${system}`, ...MARK }],
          messages: messages.map((text, at) => ({
            role: at % 2 === 0 ? "user" : "assistant",
            content: [{ type: "text", text, ...(at === messages.length - 1 && MARK) }],
          })),
        };
        const missed = script.send(body, service.answer(prefixes, script.at));
        const isQuiet =
          idle < 5 && !isDropped && edits === lastEdits && past.at(-1)?.settings === now.settings;
        if (isQuiet) assert.equal(missed, null, "nothing has happened");
        if (missed !== null)
          assert.equal(findFault(missed.miss ?? "", now, past, edits > 0), null, JSON.stringify(missed));
        past.push({ ...now, at: script.at });
        lastEdits = edits;
        messages.push(`message ${messages.length}`, `message ${messages.length + 1}`);
      }
    }),
  ),
];
