/** What a reason for a miss means, and the habit that avoids it. Both are parts of sentences of their own. */
interface Reason {
  what: string;
  habit: string;
}

const ONE_MODEL = "Choose the model when a session starts: each model has a cache of its own.";
const AT_THE_END =
  "Add to a conversation at its end: what follows an edited or removed message is new to the cache.";

/**
 * The known reasons by their words in records. `idle_*`, `marks_removed`, `parallel`, `thinking_changed`, `tool_choice_changed` and `unknown` are
 * tollkeeper's own. The others are those of the services (docs/wire.md section 5); a word that is not here is one that a service has
 * added.
 */
const REASONS: ReadonlyMap<string, Reason> = new Map(
  Object.entries({
    model_changed: { what: "the model or its speed changed", habit: ONE_MODEL },
    tools_changed: {
      what: "the tools changed",
      habit: "Connect MCP servers and choose tools before a session starts, and then leave them as they are.",
    },
    system_changed: {
      what: "the system prompt changed",
      habit: "Keep what changes, such as the time or the state of files, out of the system prompt.",
    },
    messages_changed: { what: "an earlier message changed", habit: AT_THE_END },
    input_changed: { what: "the earlier input changed", habit: AT_THE_END },
    context_compacted: {
      what: "the conversation was compacted",
      habit: "Compact between tasks, and start a new session for a new task.",
    },
    thinking_changed: {
      what: "the settings of thinking changed",
      habit: "Set thinking when a session starts, and then leave it as it is.",
    },
    tool_choice_changed: {
      what: "the choice of tools changed",
      habit: "Leave the choice of tools as it is within a conversation.",
    },
    reasoning_effort_changed: {
      what: "the reasoning effort changed",
      habit: "Set the reasoning effort when a session starts, and then leave it as it is.",
    },
    text_format_changed: {
      what: "the format of the response changed",
      habit: "Ask for one format of responses within a conversation.",
    },
    verbosity_changed: {
      what: "the verbosity changed",
      habit: "Set the verbosity when a session starts, and then leave it as it is.",
    },
    service_tier_changed: {
      what: "the service tier changed",
      habit: "Stay on one service tier within a conversation.",
    },
    prompt_cache_key_changed: {
      what: "the prompt cache key changed",
      habit: "Let a conversation keep one prompt cache key.",
    },
    marks_removed: {
      what: "the request no longer marks anything for the cache",
      habit: "Leave prompt caching switched on in the tool.",
    },
    idle_5m: {
      what: "the session was idle for longer than the cache lives, 5 minutes",
      habit: "Go on within 5 minutes, or choose the lifetime of 1 hour in a tool that offers it.",
    },
    idle_30m: {
      what: "the session was idle for longer than the cache lives, 30 minutes",
      habit: "Go on within 30 minutes, or start a new session after a long break.",
    },
    idle_1h: {
      what: "the session was idle for longer than the cache lives, 1 hour",
      habit: "Go on within the hour, or start a new session after a long break.",
    },
    idle_12h: {
      what: "the session was idle for longer than the cache lives, 12 hours",
      habit: "Start a new session after a long break.",
    },
    parallel: {
      what: "it was sent before the response to another with the same prompt had begun",
      habit:
        "Let the first of several requests with the same prompt begin its response before you send the others.",
    },
    unknown: {
      what: "nothing in the requests says why",
      habit: "If this is frequent, ask the service: it may drop what it has cached.",
    },
  }),
);

/** Says what the word of a reason means, such as `the tools changed`; the word itself where only the service knows. */
export function describeMiss(word: string): string {
  return REASONS.get(word)?.what ?? word;
}

/** Returns the word of a reason as a person reads it in a table, such as `tools changed`. */
export function nameMiss(word: string): string {
  return word.replaceAll("_", " ");
}

/** Returns a sentence on how to avoid misses for a reason; null for a word that only the service knows. */
export function habitFor(word: string): string | null {
  return REASONS.get(word)?.habit ?? null;
}
