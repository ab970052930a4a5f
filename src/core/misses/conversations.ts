import type { CacheMiss, MeterReading, Tokens } from "../usage/reading.ts";
import {
  differs,
  differsAt,
  hasSameSettings,
  inferReason,
  LIVES,
  type Earlier,
  type Harmless,
} from "./compare.ts";
import { UNSURE, type Hashing } from "./part-hasher.ts";
import { ABSENT, hashText, type Prompt } from "./prompt.ts";

/** Services cache in steps of up to so many tokens, and no smaller prompts: a smaller difference is no miss. */
const LEAST_MISSED = 1024;
/** Conversations of an agent that are told apart. */
const MOST_OF_AGENT = 6;
/** Agents of sessions, the latest ones. */
const MOST_AGENTS = 1000;
/** Numbers kept of all messages: 4 MB. */
const MOST_MESSAGES = 500_000;

/** What has a cache of its own: an agent of a session of a tool, at an upstream. */
interface Sender {
  readonly tool: string;
  readonly upstream: string;
  readonly session: string;
  /** null for the main one. */
  readonly agent: string | null;
}

/** A request as its conversation sees it. */
export interface Asking {
  sender: Sender;
  model: string | null;
  /** Of its body, which is complete. */
  readPrompt: () => Prompt;
  dialect: "messages" | "responses" | "chat";
  isStream: boolean;
  /** When it arrived, in milliseconds since 1970. */
  at: number;
}

/** What a response has read and written. */
interface Answered {
  tokens: Tokens;
  responseId: string | null;
  /** When it ended, in milliseconds since 1970. */
  at: number;
}

/** An earlier request, as the start of what later ones of its conversation have. */
interface Turn extends Earlier {
  responseId: string | null;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** An agent of a session. */
interface Agent {
  readonly sender: Sender;
  /** The latest one last. */
  readonly turns: Turn[];
  readonly running: RunningRequest[];
  readonly harmless: Writable<Harmless>;
  /** False once it was dropped: what still runs of it is not counted any more. */
  isKept: boolean;
}

const NOT_HARMLESS: Harmless = {
  tools: false,
  system: false,
  toolChoice: false,
  thinking: false,
  cacheKey: false,
};
const LEARNED = Object.keys(NOT_HARMLESS) as (keyof Harmless)[];

type Inferred = Pick<CacheMiss, "miss" | "miss_tokens">;

/**
 * What the latest requests of each conversation had in the provider's cache, to tell why a later one missed it. In memory only, and without any
 * text: the hashes of a {@link Prompt}, and counts.
 */
export class Conversations {
  /** The latest one last. */
  readonly #agents = new Map<string, Agent>();
  #latest: Agent | null = null;
  #messages = 0;
  /** How the prompts of all requests are hashed. */
  readonly hashing: Hashing;

  constructor(hashing: Hashing) {
    this.hashing = hashing;
  }

  /** How many numbers are kept of messages. */
  get size(): number {
    return this.#messages;
  }

  /** Takes a request whose body is complete. */
  begin(asking: Asking): RunningRequest {
    const agent = this.#agentOf(asking.sender);
    const earlier = findTurn(agent.turns, asking, this.hashing);
    const running = new RunningRequest(this, agent, asking, earlier, findRunning(agent.running, asking));
    agent.running.push(running);
    return running;
  }

  /** The agent becomes the latest one. */
  #agentOf(sender: Sender): Agent {
    // Most requests come from the sender of the one before: then no name is made and looked up.
    if (this.#latest !== null && isSameSender(this.#latest.sender, sender)) return this.#latest;
    const name = Object.values(sender).join("\n");
    const known = this.#agents.get(name);
    const agent = known ?? { sender, turns: [], running: [], harmless: { ...NOT_HARMLESS }, isKept: true };
    this.#agents.delete(name);
    this.#agents.set(name, agent);
    this.#latest = agent;
    this.#dropOldest();
    return agent;
  }

  /** Keeps a request that has ended as a turn of its agent, in the place of an earlier one. */
  keep(agent: Agent, turn: Turn, replaced: Turn | null): void {
    if (!agent.isKept) return;
    const at = replaced === null ? -1 : agent.turns.indexOf(replaced);
    const dropped = at === -1 && agent.turns.length === MOST_OF_AGENT ? 0 : at;
    if (dropped !== -1)
      for (const old of agent.turns.splice(dropped, 1)) this.#messages -= old.prompt.messages.length;
    agent.turns.push(turn);
    this.#messages += turn.prompt.messages.length;
    this.#dropOldest();
  }

  #dropOldest(): void {
    if (this.#agents.size <= MOST_AGENTS && this.#messages <= MOST_MESSAGES) return;
    for (const [name, agent] of this.#agents) {
      if (this.#agents.size <= MOST_AGENTS && this.#messages <= MOST_MESSAGES) return;
      this.#agents.delete(name);
      agent.isKept = false;
      for (const { prompt } of agent.turns) this.#messages -= prompt.messages.length;
    }
  }
}

/** A request that runs. */
export class RunningRequest {
  readonly asking: Asking;
  readonly #conversations: Conversations;
  readonly #agent: Agent;
  readonly #earlier: Turn | null;
  readonly #parallel: RunningRequest | null;
  /** True once its response has begun, so that others can read what it wrote. */
  #hasBegun = false;
  /** What it had in the cache at its end; null before that, and where that is not known. */
  #cached: number | null = null;

  constructor(
    conversations: Conversations,
    agent: Agent,
    asking: Asking,
    earlier: Turn | null,
    parallel: RunningRequest | null,
  ) {
    this.asking = asking;
    this.#conversations = conversations;
    this.#agent = agent;
    this.#earlier = earlier;
    this.#parallel = parallel;
  }

  /** Its response has begun. */
  begin(): void {
    this.#hasBegun = true;
  }

  /** True where what it writes cannot be read yet. Without a stream that is not known. */
  get isUnreadable(): boolean {
    return !this.#hasBegun && this.asking.isStream;
  }

  /** Its response has ended. Returns the miss that can be inferred; null for none. `answered` is null where its tokens are not known for certain. */
  end(answered: Answered | null): Inferred | null {
    const { running } = this.#agent;
    running.splice(running.indexOf(this), 1);
    if (answered === null) return null;
    const { tokens } = answered;
    const miss = this.#infer(tokens);
    if (miss === null) this.#learn(tokens);
    this.#cached = tokens.cache_read + tokens.cache_write;
    const earlier = this.#earlier;
    // It has nothing that a later one could miss. Its prompt need not be known.
    if (earlier === null && this.#cached < LEAST_MISSED) return miss;
    const { model } = this.asking;
    const prompt = this.asking.readPrompt();
    const isSame = earlier !== null && earlier.model === model && hasSameSettings(earlier.prompt, prompt);
    const turn: Turn = {
      model,
      prompt,
      cached: this.#cached,
      life: lifeOf(tokens) ?? (isSame && miss === null ? earlier.life : null),
      endedAt: answered.at,
      wrote: tokens.cache_write > 0 || (isSame && miss === null && earlier.wrote),
      responseId: answered.responseId,
    };
    this.#conversations.keep(this.#agent, turn, isSame ? earlier : null);
    return miss;
  }

  #infer(tokens: Tokens): Inferred | null {
    const { model, dialect, at } = this.asking;
    const read = tokens.cache_read;
    const earlier = this.#earlier;
    const missed = earlier === null ? 0 : missedOf(earlier.cached, tokens);
    if (earlier !== null && missed >= LEAST_MISSED) {
      const later = {
        model,
        prompt: this.asking.readPrompt(),
        read,
        at,
        isMessages: dialect === "messages",
        isResponses: dialect === "responses",
      };
      return { miss: inferReason(earlier, later, this.#agent.harmless), miss_tokens: missed };
    }
    return this.#inferParallel(tokens);
  }

  /** The other request has written what this one could have read, had it been later. */
  #inferParallel(tokens: Tokens): Inferred | null {
    const other = this.#parallel;
    if (other === null) return null;
    const isEqual = other.asking.readPrompt().messages.length === this.asking.readPrompt().messages.length;
    const cached = other.#cached ?? (isEqual ? tokens.cache_read + tokens.cache_write : 0);
    const missed = missedOf(cached, tokens);
    return missed >= LEAST_MISSED ? { miss: "parallel", miss_tokens: missed } : null;
  }

  /** What differs although the cache was hit is no reason for a later miss. */
  #learn({ cache_read: read }: Tokens): void {
    const earlier = this.#earlier;
    if (earlier === null || earlier.cached < LEAST_MISSED || read < earlier.cached) return;
    const prompt = this.asking.readPrompt();
    for (const part of LEARNED)
      if (differs(earlier.prompt[part], prompt[part])) this.#agent.harmless[part] = true;
  }
}

/**
 * Returns what a response tells of the cache; null where its counts are not those of one prompt: without usage, with a contradiction, or
 * with the service's own tools, which sample the model several times.
 */
export function answeredBy(reading: MeterReading, at: number): Answered | null {
  const {
    tokens,
    usage,
    outcome,
    extra,
    server_tools: tools,
    raw_usage: raw,
    response_id: responseId,
  } = reading;
  const isKnown = usage === "final" || (usage === "partial" && outcome === "cut");
  if (tokens === null || !isKnown || extra.length > 0 || Object.keys(tools).length > 0) return null;
  const iterations = raw?.["iterations"];
  const isOne = !Array.isArray(iterations) || iterations.length < 2;
  return isOne ? { tokens, responseId, at } : null;
}

function isSameSender(one: Sender, other: Sender): boolean {
  return (
    one.session === other.session &&
    one.agent === other.agent &&
    one.tool === other.tool &&
    one.upstream === other.upstream
  );
}

/** Returns how many tokens were not read that were in the cache, and that the prompt has. */
function missedOf(cached: number, { cache_read: read, input_total: input }: Tokens): number {
  return Math.min(cached, input) - read;
}

/** Returns the lifetime of what was written without marks, if all of it has the same. */
function lifeOf(tokens: Tokens): keyof typeof LIVES | null {
  const { cache_write: all } = tokens;
  if (all === 0) return null;
  const lives = Object.keys(LIVES) as (keyof typeof LIVES)[];
  return lives.find((life) => tokens[`cache_write_${life}`] === all) ?? null;
}

/** Returns the latest turn that the request goes on from: the same settings are preferred, and then the more messages they share. */
function findTurn(turns: readonly Turn[], asking: Asking, hashing: Hashing): Turn | null {
  if (turns.length === 0) return null;
  const { model } = asking;
  const prompt = asking.readPrompt();
  let found: Turn | null = null;
  let best = 0;
  for (const turn of turns) {
    const shared = sharedMessages(turn, prompt, hashing);
    if (shared === 0) continue;
    const isSame = turn.model === model && hasSameSettings(turn.prompt, prompt);
    const rank = shared + (isSame ? MOST_MESSAGES : 0);
    if (rank < best) continue;
    found = turn;
    best = rank;
  }
  return found;
}

/** Returns how many messages a request has in common with a turn that it goes on from; 0 if it goes on from another. */
function sharedMessages({ prompt: turn, responseId }: Turn, prompt: Prompt, hashing: Hashing): number {
  if (prompt.previous !== ABSENT)
    return responseId !== null && prompt.previous === hashText(responseId, hashing) ? 1 : 0;
  if (prompt.messages.length < turn.messages.length) return 0;
  let shared = 0;
  let different = 0;
  for (let at = 0; at < turn.messages.length; at += 1) {
    const hash = turn.messages[at];
    if (hash !== UNSURE && prompt.messages[at] === hash) shared += 1;
    else if (differsAt(turn, prompt, at)) different += 1;
  }
  return shared >= different ? shared : 0;
}

/** Returns a request that has begun to write the same prompt, or its start, to the cache; null without one. */
function findRunning(running: readonly RunningRequest[], asking: Asking): RunningRequest | null {
  for (const one of running) {
    if (!one.isUnreadable || one.asking.model !== asking.model) continue;
    const [before, prompt] = [one.asking.readPrompt(), asking.readPrompt()];
    if (isStartOf(before, prompt) && hasSameSettings(before, prompt)) return one;
  }
  return null;
}

function isStartOf({ messages }: Prompt, prompt: Prompt): boolean {
  return (
    messages.length > 0 &&
    messages.length <= prompt.messages.length &&
    messages.every((hash, at) => hash !== UNSURE && prompt.messages[at] === hash)
  );
}
