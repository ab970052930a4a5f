import type { JsonObject } from "../json.ts";
import { asCount, asObject, asText, isName } from "./fields.ts";
import type { Selection } from "./json/json-scanner.ts";
import type { Flag } from "./reading.ts";
import { TEXT_BYTES } from "./usage-format.ts";

/** Calls of tools that the service itself runs, by the tool's name. */
export type Calls = Record<string, number>;

/** More kinds of tools than any response uses. Further ones are left out. */
const MAX_TOOLS = 64;

/** More calls than wait for their results at once. */
const MAX_OPEN = 256;

/** What to read of an item in the output list of a response of the Responses API. */
export const OUTPUT_ITEM: Selection = {
  type: TEXT_BYTES,
  status: TEXT_BYTES,
  action: { type: TEXT_BYTES },
  environment: { type: TEXT_BYTES },
};

/** What to read of a content block of the Messages API. A result that is an error has an object as its content, others a list or a text. */
export const CONTENT_BLOCK: Selection = {
  type: TEXT_BYTES,
  name: TEXT_BYTES,
  id: TEXT_BYTES,
  tool_use_id: TEXT_BYTES,
  content: { type: TEXT_BYTES },
};

/** Items `*_call` of tools that the client runs (npm `openai`, `ResponseOutputItem`). */
const RUN_BY_CLIENT: ReadonlySet<string> = new Set([
  "function",
  "custom_tool",
  "local_shell",
  "apply_patch",
  "computer",
]);

/** Of these OpenAI charges the tokens only (https://developers.openai.com/api/docs/pricing). */
const TOKENS_ONLY: ReadonlySet<string> = new Set(["mcp", "tool_search"]);

/** Of these Anthropic charges the tokens only, an advisor's by its own usage. */
const TOKENS_ONLY_IN_MESSAGES = /^(?:advisor|tool_search_tool_\w+)$/;

/** Counts the calls that the output of a response lists: a proof of what was used, also where the usage says nothing of it. */
export class ListedCalls {
  readonly #calls = new Map<string, number>();
  /** The calls of a message whose results have not come yet: their tools by their ids. */
  readonly #open = new Map<string, string>();

  /** Adds an item of the output list of the Responses API. */
  addItem(item: JsonObject): void {
    this.#add(nameOfItem(item));
  }

  /** Adds a content block of the Messages API. */
  addBlock(block: JsonObject): void {
    const { type, name, id } = block;
    if (type !== "server_tool_use") return this.#addResult(block);
    if (typeof name !== "string" || !isName(name) || TOKENS_ONLY_IN_MESSAGES.test(name)) return;
    // `bash_code_execution` and `text_editor_code_execution` are parts of one tool.
    const tool = name.endsWith("code_execution") ? "code_execution" : name;
    this.#add(tool);
    if (typeof id === "string" && this.#open.size < MAX_OPEN) this.#open.set(id, tool);
  }

  /** Takes over what another list of the same response has more of. */
  atLeast(other: ListedCalls): void {
    for (const [tool, calls] of other.#calls)
      this.#calls.set(tool, Math.max(calls, this.#calls.get(tool) ?? 0));
  }

  /** Forgets everything, because another response begins. */
  reset(): void {
    this.#calls.clear();
    this.#open.clear();
  }

  /**
   * Returns the calls of a response whose usage reports some. The usage may report more: a call may make several requests. Where it
   * reports fewer than the list proves, the list counts, and the response is flagged.
   */
  addTo(reported: Calls, flags: Set<Flag>): Calls {
    if (this.#calls.size === 0) return reported;
    const calls = { ...reported };
    for (const [tool, listed] of this.#calls) {
      const known = calls[tool];
      if (known !== undefined && known >= listed) continue;
      calls[tool] = listed;
      if (known !== undefined) flags.add("tool_calls_exceed_usage");
    }
    return calls;
  }

  /**
   * Returns the calls of a message that has ended. Its usage is right about what it reports: Anthropic does not charge for searches that
   * fail. Code execution costs nothing beside web search and web fetch, which use it themselves
   * (https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool).
   */
  addToMessage(reported: Calls): Calls {
    const unreported = [...this.#calls].filter(([tool]) => !Object.hasOwn(reported, tool));
    return withoutFreeCode({ ...reported, ...Object.fromEntries(unreported) });
  }

  /**
   * Returns the calls of a message that was cut before its usage: those whose results came, and so are proved, or more where the usage so
   * far reports more.
   */
  addToCutMessage(reported: Calls): Calls {
    const calls = { ...reported };
    const open = [...this.#open.values()];
    for (const [tool, begun] of this.#calls) {
      const proved = begun - open.filter((one) => one === tool).length;
      if (proved > (calls[tool] ?? 0)) calls[tool] = proved;
    }
    return withoutFreeCode(calls);
  }

  /** Takes the result of a call, which was none if it failed. */
  #addResult({ tool_use_id: id, content }: JsonObject): void {
    const tool = typeof id === "string" ? this.#open.get(id) : undefined;
    if (typeof id !== "string" || tool === undefined) return;
    this.#open.delete(id);
    const type = asText(asObject(content)["type"]);
    if (type === null || !type.endsWith("_error")) return;
    const calls = (this.#calls.get(tool) ?? 0) - 1;
    if (calls > 0) this.#calls.set(tool, calls);
    else this.#calls.delete(tool);
  }

  #add(tool: string | null): void {
    if (tool === null || (this.#calls.size >= MAX_TOOLS && !this.#calls.has(tool))) return;
    this.#calls.set(tool, (this.#calls.get(tool) ?? 0) + 1);
  }
}

function withoutFreeCode(calls: Calls): Calls {
  if ((calls["web_search"] ?? 0) + (calls["web_fetch"] ?? 0) > 0) delete calls["code_execution"];
  return calls;
}

/** Returns the tool of an item that is a call of one that the service runs, and may charge for; else null. */
function nameOfItem({ type, status, action, environment }: JsonObject): string | null {
  if (typeof type !== "string" || !type.endsWith("_call") || status === "failed") return null;
  const tool = type.slice(0, -"_call".length);
  if (!isName(tool)) return null;
  if (RUN_BY_CLIENT.has(tool) || TOKENS_ONLY.has(tool)) return null;
  if (tool === "shell" && asObject(environment)["type"] === "local") return null;
  // OpenAI charges for searches, not for opening what they found.
  const { type: kind = "search" } = asObject(action);
  if (tool === "web_search" && kind !== "search") return null;
  return tool;
}

/** Reads calls as a usage object reports them: `web_search_requests: 2` becomes `{ web_search: 2 }`. */
export function readServerTools(tools: JsonObject): Calls {
  const calls = Object.entries(tools).flatMap(([name, value]): [string, number][] => {
    const count = asCount(value);
    return count === null ? [] : [[name.replace(/_(?:requests|calls)$/, ""), count]];
  });
  return Object.fromEntries(calls);
}

/**
 * Reads what the usage of Chat Completions or Responses reports of calls (docs/wire.md section 9): OpenRouter's names, those of the
 * Messages API, which LiteLLM uses, xAI's and Perplexity's.
 */
export function readReportedCalls(usage: JsonObject): Calls {
  const ofXai = Object.entries(readServerTools(asObject(usage["server_side_tool_usage_details"])));
  const calls: Calls = {
    ...Object.fromEntries(ofXai.filter(([, count]) => count > 0)),
    ...readServerTools(asObject(usage["server_tool_use"])),
    ...readServerTools(asObject(usage["server_tool_use_details"])),
  };
  for (const [name, tool] of COUNTED_BY_NAME) {
    const count = asCount(usage[name]) ?? 0;
    if (count > 0) calls[tool] = count;
  }
  return calls;
}

const COUNTED_BY_NAME = [
  ["num_search_queries", "search_queries"],
  ["num_sources_used", "search_sources"],
] as const;

/** Models that search the web with every request, for a fee (https://developers.openai.com/api/docs/pricing). */
const SEARCH_MODEL = /(?:^|[/-])search-(?:preview|api)(?:-|$)/;

/**
 * Returns the calls that a model's name proves: `gpt-4o-search-preview` has searched. How often, and under which of several fees, is not
 * said, so the tool has a name of its own, which has no price.
 */
export function callsOfModel(model: string | null): Calls {
  return model !== null && SEARCH_MODEL.test(model) ? { web_search_preview: 1 } : {};
}
