import { createHash } from "node:crypto";
import type { AgentFacts } from "../../core/identity/agent-facts.ts";
import { readAgent, type MessageIds } from "../../core/identity/agent.ts";
import { isUnderListedName } from "../../core/http/admission.ts";
import type { HeaderIndex } from "../../core/http/header-index.ts";
import type { Refusal } from "../../core/refusals/refusal.ts";
import type { RequestSignatures } from "../../core/identity/signatures.ts";
import {
  identifyTool,
  withProcess,
  withToken,
  type ToolIdentity,
} from "../../core/identity/tool-identity.ts";
import type { Peer } from "./peer.ts";
import type { Redactor } from "./sent-keys.ts";
import { tokenRequired, type TokenRule } from "../../core/refusals/access.ts";
import type { Choice } from "../../core/decide/choose-upstream.ts";
import type { Settings } from "../../core/decide/settings.ts";
import type { TokenRegistry } from "./token-registry.ts";

/** What identifies the client of a request. */
interface Evidence {
  /** The tool named in the path. */
  mark: string | null;
  headers: HeaderIndex;
  /** The ids that a message on a WebSocket has, which are later than those of the headers; null where it has none. */
  ids: MessageIds | null;
  peer: Peer;
  tokenRule: TokenRule | null;
  /** Tells the name of a tool from a key. */
  keyring: Redactor;
  signatures: RequestSignatures;
  /** Names of the tools whose settings `tollkeeper connect` can write. */
  connectable: ReadonlySet<string>;
}

/** Returns what requires a registered token of a request; null where nothing does (SECURITY.md A12 and A16). */
export function findTokenRule(headers: HeaderIndex, { config, rules }: Settings): TokenRule | null {
  if (config.access.mode === "token") return "access";
  return isUnderListedName(headers, rules) ? "listed name" : null;
}

/**
 * Who sends a request: the tool by the strongest evidence there is, and where a token is required the proof of it.
 *
 * On a fresh connection the process at the other end is not known yet, and no request waits for it. `tool` is what is known
 * on arrival, and chooses upstream and key. The record is written later and may name the tool by its process.
 */
export class ClientIdentity {
  readonly peer: Peer;
  /** The refusal for a client that shows no registered token where a rule requires one. No other place decides that. */
  readonly refusal: Refusal | null;
  /** Without the process. */
  readonly #claimed: ToolIdentity;
  #onArrival: ToolIdentity;
  readonly #headers: HeaderIndex;
  readonly #ids: MessageIds | null;
  readonly #keyring: Redactor;

  constructor(
    { mark, headers, ids, peer, tokenRule, keyring, signatures, connectable }: Evidence,
    tokens: TokenRegistry,
  ) {
    const owner = tokens.ownerOf(headers);
    const found = identifyTool(mark, headers, signatures);
    const session = ids?.session_id;
    const claimed = withoutKey(session === undefined ? found : { ...found, session }, keyring);
    this.peer = peer;
    this.#headers = headers;
    this.#ids = ids;
    this.#keyring = keyring;
    this.#claimed = withToken(claimed, owner, tokenRule === null ? "open" : "token");
    this.#onArrival = withProcess(this.#claimed, peer.process?.name ?? null);
    this.refusal =
      owner === null && tokenRule !== null ? tokenRequired(this.#onArrival, connectable, tokenRule) : null;
  }

  /** True while a process that is being looked for could name the tool. */
  get isProvisional(): boolean {
    const { by } = this.#onArrival;
    return (by === "unknown" || by === "library") && this.peer.isProcessPending;
  }

  /** Waits for the process, and names the tool by it: for a request that no rule has judged yet. */
  async settle(): Promise<void> {
    await this.peer.whenProcessKnown();
    this.#onArrival = withProcess(this.#claimed, this.peer.process?.name ?? null);
  }

  /** The tool as it was known when the request arrived, or had waited for it. */
  get tool(): string {
    return this.#onArrival.tool;
  }

  /** Replaces keys by asterisks in what the client says about itself. */
  redact(text: string): string {
    return this.#keyring.redact(text);
  }

  /** The tool's own session id; null where it sends none. */
  get session(): string | null {
    return this.#claimed.session;
  }

  /** Which of the tool's agents asked. Read when it is recorded, because no rule depends on it. */
  readAgent(): AgentFacts {
    return readAgent(this.#headers, this.#ids, (text) => {
      const { session } = this.#claimed;
      // The session makes the same name another id elsewhere. A key is redacted first: its hash could be looked up.
      const named = this.#keyring.redact(`${session}\n${text}`);
      return `named-${createHash("sha256").update(named).digest("hex").slice(0, 16)}`;
    });
  }

  /**
   * The identity for the record. A process that was found after the request had been sent names the tool only if that tool's
   * requests go to the same destination and are judged by the same policy: a record must never say that a tool used another
   * tool's upstream or key, or what it may not use.
   */
  forRecord({ upstream, key }: Pick<Choice, "upstream" | "key">, settings: Settings): ToolIdentity {
    this.peer.recall();
    const identity = withProcess(this.#onArrival, this.peer.process?.name ?? null);
    if (identity === this.#onArrival) return identity;
    const { policyFor } = settings;
    if (policyFor !== null && policyFor(identity.tool) !== policyFor(this.tool)) return this.#onArrival;
    const own = settings.destinationsFor(identity.tool);
    const isOwn = own.some(
      (one) => one.upstream === upstream && (one.account === "own" || one.key.name === key.name),
    );
    return isOwn ? identity : this.#onArrival;
  }
}

/** A client that names a key in place of its tool is an unknown one: the names of tools are in records, logs and views. */
function withoutKey(claimed: ToolIdentity, keyring: Redactor): ToolIdentity {
  if (keyring.redact(claimed.tool) === claimed.tool) return claimed;
  return { tool: "unknown", by: "unknown", session: claimed.session };
}
