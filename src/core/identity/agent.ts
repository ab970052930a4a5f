import type { HeaderIndex } from "../http/header-index.ts";
import { parseJson } from "../json.ts";
import { asObject, asText } from "../usage/fields.ts";
import type { AgentFacts, AgentKind } from "./agent-facts.ts";

/** What Codex repeats in each message of a WebSocket, because the headers of the handshake are those of the first one only. */
export const MESSAGE_IDS = [
  ...(["session_id", "thread_id", "x-codex-turn-metadata"] as const),
  ...(["x-codex-parent-thread-id", "x-openai-subagent"] as const),
] as const;
export type MessageIds = Readonly<Partial<Record<(typeof MESSAGE_IDS)[number], string>>>;

const NOTHING: AgentFacts = { agent: null, agent_parent: null, agent_kind: null, turn: null };

/** Text that somebody may have chosen becomes an id that says nothing. */
type Conceal = (text: string) => string;

/** Returns the text of a header, or what a message has in its place. */
type Read = (name: string) => string | null;

/**
 * Says which agent sent a request (docs/wire.md section 2). The names of the headers tell the tools apart. Nothing but the ids and
 * words of {@link AgentFacts} is taken: Codex sends the user's directories beside them.
 *
 * @param message the ids in a message of a WebSocket; null for a request, and for a message without ids
 * @param conceal for each id that is not evidently random (SECURITY.md E6)
 */
export function readAgent(headers: HeaderIndex, message: MessageIds | null, conceal: Conceal): AgentFacts {
  const read: Read =
    message === null
      ? (name) => asText(headers.get(name))
      : (name) => asText(message[name as keyof MessageIds]);
  const facts = claudeCode(read) ?? codex(read, message) ?? childSession(read) ?? copilot(read) ?? NOTHING;
  if (facts === NOTHING) return facts;
  const agent = toId(facts.agent, conceal);
  const parent = agent === null ? null : toId(facts.agent_parent, conceal);
  return {
    agent,
    agent_parent: parent === agent ? null : parent,
    agent_kind: facts.agent_kind,
    turn: toId(facts.turn, conceal),
  };
}

/** Ids that programs make: UUIDs, hexadecimal numbers, and the ids of opencode's sessions. */
const RANDOM =
  /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*\d)[0-9a-f]{6,64}|ses_[0-9A-Za-z]{16,64})$/i;

function toId(text: string | null, conceal: Conceal): string | null {
  if (text === null) return null;
  return RANDOM.test(text) ? text : conceal(text);
}

/** The request classes of Claude Code's gateway hints; of `subagent`, the agent's type says more. */
const CLAUDE_CLASSES: Readonly<Record<string, AgentKind>> = {
  main: "main",
  subagent: "subagent",
  workflow: "workflow",
  compaction: "compaction",
  auxiliary: "auxiliary",
};

const CLAUDE_TYPES: Readonly<Record<string, AgentKind>> = { teammate: "teammate", fork: "fork" };

function claudeCode(read: Read): AgentFacts | null {
  if (read("x-claude-code-session-id") === null) return null;
  const agent = read("x-claude-code-agent-id");
  const kind = wordIn(CLAUDE_CLASSES, read("x-claude-code-request-class"));
  const type =
    kind === "subagent" || kind === null ? wordIn(CLAUDE_TYPES, read("x-claude-code-agent-type")) : null;
  return {
    agent,
    agent_parent: read("x-claude-code-parent-agent-id"),
    agent_kind: type ?? kind ?? unhinted(read, agent),
    turn: read("x-claude-code-prompt-id"),
  };
}

/** Without hints only sub-agents and what runs in the background are told apart. */
function unhinted(read: Read, agent: string | null): AgentKind | null {
  if (agent !== null) return "subagent";
  return read("x-app") === "cli-bg" ? "background" : null;
}

const CODEX_SUBAGENTS: Readonly<Record<string, AgentKind>> = {
  review: "review",
  compact: "compaction",
  memory_consolidation: "memory",
  collab_spawn: "subagent",
};

/** `request_kind` of the turn's metadata. */
const CODEX_REQUESTS: Readonly<Record<string, AgentKind>> = {
  compaction: "compaction",
  memory: "memory",
  prewarm: "warmup",
};

/** `thread_source` of the turn's metadata. */
const CODEX_THREADS: Readonly<Record<string, AgentKind>> = {
  user: "main",
  thread_title: "title",
  subagent: "subagent",
};

/** Longer metadata is not read: directories of the user may make it so. */
export const METADATA_CHARACTERS = 8192;

function codex(read: Read, message: MessageIds | null): AgentFacts | null {
  const text = read("x-codex-turn-metadata");
  const spawned = read("x-openai-subagent");
  if (text === null && spawned === null && message === null) return null;
  const metadata = asObject(text === null || text.length > METADATA_CHARACTERS ? null : parseJson(text));
  const session = read("session_id") ?? read("session-id");
  const thread = read("thread_id") ?? read("thread-id");
  const agent = thread === session ? null : thread;
  const parent = read("x-codex-parent-thread-id");
  const isChild = agent !== null || spawned !== null;
  return {
    agent,
    agent_parent: parent === session ? null : parent,
    agent_kind:
      wordIn(CODEX_REQUESTS, asText(metadata["request_kind"])) ??
      wordIn(CODEX_SUBAGENTS, spawned) ??
      (isChild ? "subagent" : wordIn(CODEX_THREADS, asText(metadata["thread_source"]))),
    turn: asText(metadata["root_turn_id"]) ?? asText(metadata["turn_id"]),
  };
}

/** opencode, and Kilo, which is made from it, run each sub-agent in a session of its own. */
function childSession(read: Read): AgentFacts | null {
  if (read("x-parent-session-id") === null) return null;
  return { ...NOTHING, agent: read("x-session-id"), agent_kind: "subagent" };
}

/** `x-interaction-type`. */
const COPILOT_TYPES: Readonly<Record<string, AgentKind>> = {
  "conversation-user": "main",
  "conversation-agent": "main",
  "conversation-subagent": "subagent",
  "conversation-compaction": "compaction",
  "conversation-background": "background",
};

function copilot(read: Read): AgentFacts | null {
  const type = read("x-interaction-type");
  if (type === null) return null;
  return { ...NOTHING, agent_kind: wordIn(COPILOT_TYPES, type), turn: read("x-interaction-id") };
}

/** Looks a word up that a client chose: only the table's own members count. */
function wordIn(words: Readonly<Record<string, AgentKind>>, word: string | null): AgentKind | null {
  return word !== null && Object.hasOwn(words, word) ? (words[word] ?? null) : null;
}
