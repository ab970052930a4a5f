import { NO_SIZE, type BodySize, type BudgetRequest } from "../budget/budget-request.ts";
import type { Config } from "../config/config.ts";
import type { HeaderIndex } from "../http/header-index.ts";
import type { Brake, BrakedRequest } from "../policy/brake.ts";
import type { ModelReader } from "../policy/model-reader.ts";
import type { ToolPolicy } from "../policy/tool-policy.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { Choice } from "./choose-upstream.ts";
import type { Creator } from "./creator.ts";
import type { ApiRequest, RefusedRequest } from "./resolve-route.ts";
import type { Destinations } from "./settings.ts";

// What a decision is made from, and what it can be. A request that goes climbs four steps, each with all that the one before had:
//
//   ApiRequest  resolve-route.ts    what is asked for: a route, and who pays by the path
//   Choice      choose-upstream.ts  where it goes: an upstream, a key or a plan, the path there
//   Chosen      below               what of the body and of the tool's group that choice was made with
//   Decision    below               it goes; how long its body is

/** Who sends a request, as far as the decision depends on it. */
export interface Requester {
  readonly tool: string;
  /** True while the process behind the connection is being looked for, and could name the tool. */
  readonly isProvisional: boolean;
  /** The refusal for a client without the token that it needs; null for any other. */
  readonly refusal: Refusal | null;
  readonly peer: {
    readonly project: string | null;
    readonly isProjectPending: boolean;
    readonly isOwn: boolean;
  };
}

/** A request as far as the decision depends on it, apart from its body. */
export interface AskedRequest {
  request: ApiRequest | RefusedRequest;
  headers: HeaderIndex;
  client: Requester;
  /** True for a client that waits for `100 Continue` before it sends its body. */
  expectsContinue: boolean;
}

/** What has been read of a body so far. */
export interface BodyFacts {
  /** Why it can be read no further: it is too long, or has stopped arriving; else null. */
  refusal: Refusal | null;
  /** How far the search for its model got; null if it was not searched for. */
  reader: Pick<ModelReader, "fault" | "place"> | null;
  /** The model of the whole body in a decoded copy, or what is wrong with that; null if the body was not decoded. */
  copy: { model: string | null; fault: string | null } | null;
  /** What a batch asks for; null if it was not read for that. */
  batch: BatchFacts | null;
  /** What the whole body may spend; null if it was not read for that. */
  size: BodySize | null;
  /** What tells the body from those of other requests; null if it was not read for that. */
  fingerprint: string | null;
}

/** Before the decision has asked for anything. */
export const NOTHING_READ: BodyFacts = {
  refusal: null,
  reader: null,
  copy: null,
  batch: null,
  size: null,
  fingerprint: null,
};

/** Which models a batch names, each with the index of the first request that does, and what it may spend, or what is wrong with it. */
export interface BatchFacts {
  models: ReadonlyMap<string, number>;
  size: BodySize;
  fault: string | null;
}

/** What stands at this moment. Asking changes nothing. */
export interface Standing {
  pauses: {
    judge(tool: string, config: Config): Refusal | null;
    /** True while a tool is paused by name. */
    readonly namesTools: boolean;
  };
  brakes: { judge(request: BrakedRequest): Refusal | null };
  budgets: {
    /** null once it is known what was spent before. */
    readonly counting: Promise<void> | null;
    judge(request: BudgetRequest): Refusal | null;
  };
  limits: {
    /** Returns the refusal of a request for which a brake keeps what is left of the account that would pay for it; null for one that may go. */
    judge(brakes: readonly Brake[], choice: Choice): Refusal | null;
  };
  creators: {
    /** Returns who created a stored object; null if it is not known, and undefined before the ledger was asked. */
    find(id: string): Creator | null | undefined;
  };
}

/** A request whose upstream is chosen. */
export interface Chosen {
  choice: Choice;
  policy: ToolPolicy | null;
  /** The model that the client names; null where it was not read. */
  model: string | null;
  /** The model to request in place of the client's; null to request that. */
  alias: string | null;
  /** True where the model has decided something: the body may name no other. */
  isBound: boolean;
  /** What it may spend, where budgets ask. */
  size: BodySize;
  /** What the brakes compare; null where they compare nothing. */
  fingerprint: string | null;
}

/** What is known of a request before its body was read. */
export const UNREAD: Omit<Chosen, "choice" | "policy"> = {
  model: null,
  alias: null,
  isBound: false,
  size: NO_SIZE,
  fingerprint: null,
};

/** A request that goes to an upstream. */
export interface Decision extends Chosen {
  kind: "send";
  /** `content-length`; null for a chunked body. */
  announcedBytes: number | null;
}

/** A request that goes nowhere. */
export interface Refused {
  kind: "refuse";
  refusal: Refusal;
  /** Where it would have gone, for its record; null if no upstream of its tool has such a route, and so for one that leaves none. */
  chosen: Chosen | null;
  /** What it names, where that was read and no upstream was chosen. */
  named: Pick<Chosen, "model" | "alias"> | null;
}

/** The list of models, which several upstreams share, or of which the tool may see a part. */
export interface OwnList {
  kind: "list";
  request: ApiRequest;
  destinations: Destinations;
  policy: ToolPolicy | null;
}

/** What has to be known before `decide` is called again. */
export interface Need {
  kind: "need";
  /** The process that may name the tool, its project, who created the stored object that it is about, the body's model, that of a compressed body or those of a batch, what tells the body from others, what it may spend, or what was spent before. */
  what: "process" | "project" | "creator" | "model" | "copy" | "batch" | "fingerprint" | "size" | "spending";
  /** For models: as for the `ModelReader`, patterns of those that its tools may name; null where further models do not count. */
  only: readonly string[] | null;
}

/** Makes the decision for a request that goes nowhere. */
export function refuse(refusal: Refusal, chosen: Chosen | null, named: Refused["named"] = null): Refused {
  return { kind: "refuse", refusal, chosen, named };
}
