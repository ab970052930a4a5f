import type { SummableRecord } from "../ledger/record.ts";

/** Who spends: what decides which budgets are for a request. */
export type Spender = Pick<SummableRecord, "tool" | "project" | "key">;

/** The output of a request that names no limit, in tokens. Most have less. */
export const ASSUMED_OUTPUT = 4_096;

/** The input of a request that is not in its body, in tokens: an earlier conversation or a file that the service keeps. */
export const ASSUMED_CONTEXT = 32_000;

/** Requests of a batch that are priced alike: for one model, with prompts of about the same length. */
export interface BatchPart extends Pick<BodySize, "cachesLong" | "speed" | "geo"> {
  model: string;
  /** Of all of them. */
  input: number;
  output: number;
  /** The longest prompt: above some lengths, prices are higher. */
  longest: number;
}

/** What the body of a request may spend, in tokens (docs/budgets.md). */
export interface BodySize {
  /** The input at most, as far as it is in the body, and what is assumed for files and conversations that are not. */
  input: number;
  /** The output that the request allows, in all choices; what is assumed where it does not say. */
  output: number;
  /** The id of an earlier response, whose context is input, too; null without one. */
  previous: string | null;
  /** True where the input may be written to a cache for longer than usual, which costs more: the body asks for it, or was not read. */
  cachesLong: boolean;
  /** Whether the model is asked to reason; null where the request does not say. */
  reasons: boolean | null;
  /** What it asks for that may be dearer than usual, in the words of the body: `service_tier`, `speed`, `inference_geo`; null without. */
  tier: string | null;
  speed: string | null;
  geo: string | null;
  /** How many answers, pictures or films it asks for. */
  choices: number;
  /** How long a film is to be, in seconds; null where the request does not say. */
  seconds: number | null;
  /** Of a batch: what its requests are, whose sums are above; null for a single request. */
  parts: readonly BatchPart[] | null;
}

/** Of a body that is not read. */
export const NO_SIZE: BodySize = {
  input: 0,
  output: ASSUMED_OUTPUT,
  previous: null,
  cachesLong: true,
  reasons: null,
  tier: null,
  speed: null,
  geo: null,
  choices: 1,
  seconds: null,
  parts: null,
};

/** What is known of a request before it is sent. */
export interface RequestSize extends BodySize {
  upstream: string;
  /** The model that will be asked for; null when it is not known. */
  model: string | null;
}

/** A request as budgets see it. */
export type BudgetRequest = Spender & RequestSize;
