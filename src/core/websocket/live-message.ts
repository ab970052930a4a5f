import { readModelPath, replaceModel } from "../http/gemini/model-path.ts";
import { OPEN_BRACE, QUOTE, StrictJsonReader } from "../policy/strict-json.ts";

/** The message with which a client begins: it names the model of all turns (npm `@google/genai`, `LiveClientSetup`). */
const SETUP = "setup";
const MODEL = "model";

/** The member that ends what the user says, in `clientContent`. Clients in Python write both in snake case (google-genai 2.25.0). */
const TURN_COMPLETE = "turncomplete";
/** The member with the results of the tools that the model has called. */
const TOOL_RESPONSE = "toolresponse";
const FIRST_OF_FALSE = 0x66;
const FIRST_OF_NULL = 0x6e;

/** A model's name as a path of Google's API has it, with what stands before it there. */
const VERSION = "/v1/";
const COLLECTION = "models/";

/** Where a setup names its model: offsets of the first quote, and of the byte after the last. */
export interface SetupModel {
  /** Its name as the paths of Google's API have it, without `models/`. */
  model: string;
  from: number;
  to: number;
}

/** One message of a client of the Live API. */
interface LiveMessage {
  /** What is wrong with it; null where every reader takes it for the same. */
  fault: string | null;
  /** The model of a setup; null for any other message. */
  setup: SetupModel | null;
  /** True if some reader could find in it that it ends what the user says, and so asks for a turn of the model. */
  endsUserTurn: boolean;
  /** True if some reader could find the results of tools in it. */
  answersTools: boolean;
}

/**
 * Reads a message whole. It is strict, because the service must not find another model or another setup in it than the budgets and rules here
 * (SECURITY.md C12).
 */
export function readLiveMessage(payload: readonly Buffer[]): LiveMessage {
  const reader = new LiveMessageReader();
  for (const bytes of payload) reader.feed(bytes);
  const fault = reader.finish();
  const { endsUserTurn, answersTools } = reader;
  return { fault, setup: fault === null ? reader.setup : null, endsUserTurn, answersTools };
}

/** Returns a setup with another model in its place; null for a name that cannot stand there. */
export function replaceSetupModel(payload: Buffer, { from, to }: SetupModel, model: string): Buffer | null {
  const resource = pathOf(JSON.parse(payload.toString("utf8", from, to)) as string);
  const place = readModelPath(resource);
  const replaced = place === null ? null : replaceModel(resource, place, model);
  if (replaced === null) return null;
  const value = JSON.stringify(replaced.slice(VERSION.length));
  return Buffer.concat([payload.subarray(0, from), Buffer.from(value), payload.subarray(to)]);
}

/** Reads the setup of a message, whether it asks for a turn, and what makes that uncertain. */
class LiveMessageReader extends StrictJsonReader {
  /** Members at the top. */
  #members = 0;
  #hasSetup = false;
  /** The member at the top that is being read is the setup. */
  #isInSetup = false;
  /** What the next value is. */
  #next: "setup" | "model" | "end of turn" | null = null;
  #setup: SetupModel | null = null;
  #endsUserTurn = false;
  #answersTools = false;

  /** The model of the setup; null for another message. */
  get setup(): SetupModel | null {
    return this.#setup;
  }

  get endsUserTurn(): boolean {
    return this.#endsUserTurn;
  }

  get answersTools(): boolean {
    return this.#answersTools;
  }

  /** Ends the message. Returns what is wrong with it; null where nothing is. */
  finish(): string | null {
    if (this.fault !== null) return this.fault;
    if (this.endsAt === null) return "the message is not complete JSON";
    if (this.#hasSetup && this.#members > 1) return "the setup is not the only member of its message";
    return this.#hasSetup && this.#setup === null ? "the setup names no model" : null;
  }

  protected wantsNames(): boolean {
    return this.depth <= 2;
  }

  protected takeName(raw: Buffer | null): void {
    this.#next = null;
    if (this.depth === 1) this.#takeMember(raw);
    else if (this.depth === 2 && this.#isInSetup) this.#next = this.#names(raw, MODEL) ? "model" : null;
    else if (raw !== null && readLoosely(raw) === TURN_COMPLETE) this.#next = "end of turn";
  }

  protected beginValue(byte: number): boolean {
    const next = this.#next;
    if (next !== "model") this.#next = null;
    if (next === "setup" && byte !== OPEN_BRACE) this.fail("the setup is not an object");
    if (next === "model" && byte !== QUOTE) this.fail("the model is not a string");
    if (next === "end of turn" && byte !== FIRST_OF_FALSE && byte !== FIRST_OF_NULL)
      this.#endsUserTurn = true;
    return next === "model";
  }

  protected takeValue(raw: Buffer | null, from: number, to: number): void {
    this.#next = null;
    if (this.#setup !== null) return this.fail("the setup names two models");
    const model = raw === null ? null : readModel(JSON.parse(`"${raw.toString()}"`) as string);
    if (model === null) return this.fail("the model's name cannot be read");
    this.#setup = { model, from, to };
  }

  #takeMember(raw: Buffer | null): void {
    this.#members += 1;
    this.#isInSetup = this.#names(raw, SETUP);
    if (this.#isInSetup && this.#hasSetup) this.fail("the message has two setups");
    this.#hasSetup ||= this.#isInSetup;
    if (this.#isInSetup) this.#next = "setup";
    this.#answersTools ||= raw !== null && readLoosely(raw) === TOOL_RESPONSE;
  }

  /** True for this name. Another spelling of it is a fault: some decoder could take it for the name. */
  #names(raw: Buffer | null, name: string): boolean {
    if (raw === null) return false;
    if (raw.toString("latin1") === name) return true;
    if (readLoosely(raw) === name) this.fail(`a member's name is another spelling of "${name}"`);
    return false;
  }
}

/** Returns a member's name as some decoder could take it: without escapes, in lower case, and of its letters alone. */
function readLoosely(raw: Buffer): string {
  const name = JSON.parse(`"${raw.toString("latin1")}"`) as string;
  return name.replaceAll(/[^a-z]/gi, "").toLowerCase();
}

/** Returns the model that a resource names; null where it names none clearly. An escape would be another name in a message than in a path. */
function readModel(resource: string): string | null {
  const named = resource.includes("%") ? null : readModelPath(pathOf(resource));
  return named === null || named.action !== null ? null : named.model;
}

/** Returns a resource as a path: a setup may leave out what it is of. */
function pathOf(name: string): string {
  return VERSION + (readModelPath(VERSION + name) === null ? COLLECTION : "") + name;
}
