import type { IncomingMessage, ServerResponse } from "node:http";
import { decide, permit } from "../../core/decide/decide.ts";
import {
  NOTHING_READ,
  type BodyFacts,
  type Chosen,
  type Decision,
  type Need,
  type Standing,
} from "../../core/decide/decision.ts";
import { asPost, decideHandshake, findObstacle, type AskedHandshake } from "../../core/decide/handshake.ts";
import type { Choice } from "../../core/decide/choose-upstream.ts";
import type { Settings } from "../../core/decide/settings.ts";
import { SizeReader } from "../../core/budget/size-reader.ts";
import { unreadableModel } from "../../core/refusals/models.ts";
import type { Refusal, RefusalCode } from "../../core/refusals/refusal.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { MessageFacts } from "../../core/websocket/client-message.ts";
import type { MessageIds } from "../../core/identity/agent.ts";
import type { Budgets } from "../../ports.ts";
import type { Brakes } from "../brakes.ts";
import type { ClientIdentity } from "../client/identity.ts";
import { readArrival, type Books, type ClientRequest } from "../exchange/exchange.ts";
import type { Keyring } from "../keyring.ts";
import type { Refuser } from "../refusals/refuser.ts";
import type { ClientMessage } from "./client-messages.ts";
import type { MessageReader } from "./protocol.ts";

/** The handshake of a WebSocket, and who sent it. */
export interface Handshake extends AskedHandshake {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly client: ClientIdentity;
  /** Those in force when it arrived. */
  readonly settings: Settings;
}

/** What the judgement of messages works with. */
export interface JudgeParts {
  keyring: Keyring;
  brakes: Brakes;
  budgets: Budgets;
  standing: Standing;
  refuser: Refuser;
  books: Books;
  /** The settings in force. */
  settings(): Settings;
  /** Says who sends a message now: a token may have been revoked since the handshake. `ids`: those that the message has. */
  identify(handshake: Handshake, settings: Settings, ids: MessageIds | null): ClientIdentity;
}

/** What becomes of a message. */
export type Verdict =
  | { kind: "go"; facts: MessageFacts; received: ClientRequest; decision: Decision }
  /** It belongs to a turn that has been judged. */
  | { kind: "pass"; facts: MessageFacts }
  | { kind: "refuse"; facts: MessageFacts; received: ClientRequest; refusal: Refusal; chosen: Chosen | null }
  /** The message has to go to another upstream than that of the WebSocket. */
  | { kind: "reconnect" };

/** Where all messages of a WebSocket go, and with which key. */
interface Pinned {
  choice: Choice;
  secret: Secret;
}

/** At these a client has no WebSocket to the upstream any more. Others are for each message. */
const ENDING: ReadonlySet<RefusalCode> = new Set(["upgrade_not_supported", "plan_off"]);

/**
 * Judges the messages of one WebSocket, each as a request of its own, by the settings and by what stands at that moment.
 */
export class Judge {
  readonly #handshake: Handshake;
  readonly #pinned: Pinned | null;
  readonly #messages: MessageReader;
  readonly #parts: JudgeParts;
  /** The settings under which the upstream was last found to be the same. */
  #checked: Settings;
  /** What stands in the setup in place of the model that the client named; null for that model. */
  #setupAlias: string | null = null;
  /** What tells the conversation so far from others, where a message goes on with it and bodies are compared; null before. */
  #conversation: string | null = null;

  /** @param pinned where all messages have to go; null for a first message, which decides that */
  constructor(handshake: Handshake, pinned: Pinned | null, messages: MessageReader, parts: JudgeParts) {
    this.#handshake = handshake;
    this.#pinned = pinned;
    this.#messages = messages;
    this.#parts = parts;
    this.#checked = handshake.settings;
  }

  /** Judges a message, and calls back: at once unless something has to be waited for. What it says may only be done in that turn. */
  judge(message: ClientMessage, done: (verdict: Verdict) => void): void {
    const settings = this.#parts.settings();
    const { req, res, request, headers } = this.#handshake;
    const facts = this.#messages.read(message.payload);
    const received: ClientRequest = {
      req,
      res,
      request: asPost(request, settings),
      headers,
      client: this.#parts.identify(this.#handshake, settings, facts.ids),
      settings,
      expectsContinue: false,
      arrival: readArrival(this.#parts.books.clock),
    };
    const asked = { message, facts, received };
    if (facts.fault !== null)
      this.#advance(asked, { ...NOTHING_READ, refusal: unreadableModel(facts.fault) }, done);
    else if (facts.isJoined) this.#judgeJoined(asked, done);
    else this.#advance(asked, NOTHING_READ, done);
  }

  /** What a turn costs was judged before it began. */
  #judgeJoined(asked: Asked, done: (verdict: Verdict) => void): void {
    const { client, settings } = asked.received;
    const refusal = client.refusal ?? this.#parts.standing.pauses.judge(client.tool, settings.config);
    if (refusal === null) {
      if (this.#conversation !== null) this.#conversation = this.#fingerprint(asked.message);
      done({ kind: "pass", facts: asked.facts });
    } else this.#refuse(asked, refusal, null, done);
  }

  /** Judges a turn that the service has begun by itself, as one for this message again. Returns the refusal; null for one that may go on. */
  judgeSuccessor(decision: Decision, needsPlace: boolean): Refusal | null {
    const settings = this.#parts.settings();
    const { request, headers } = this.#handshake;
    const client = this.#parts.identify(this.#handshake, settings, null);
    const paused = this.#parts.standing.pauses.judge(client.tool, settings.config);
    if (paused !== null) return client.refusal ?? paused;
    const post = asPost(request, settings);
    if (post.kind === "refusal") return post.refusal;
    const policy = settings.policyFor === null ? null : settings.policyFor(client.tool);
    const standing = this.#standing(needsPlace);
    const step = permit({ headers, client }, post, { ...decision, policy }, null, settings, standing);
    return step.kind === "refuse" ? step.refusal : null;
  }

  #advance(asked: Asked, known: BodyFacts, done: (verdict: Verdict) => void): void {
    let body = known;
    const standing = this.#standing(asked.facts.needsPlace);
    try {
      for (;;) {
        const step = decide(asked.received, body, asked.received.settings, standing);
        if (step.kind !== "need") {
          if (step.kind === "list") throw new Error("a message is no list");
          this.#conclude(asked, step, done);
          return;
        }
        const learned = this.#learn(asked, body, step);
        if (learned instanceof Promise) {
          void this.#advanceLater(learned, asked, body, null, done);
          return;
        }
        body = learned;
      }
    } catch (error) {
      this.#refuse(asked, this.#parts.refuser.refusalOf(error), null, done);
    }
  }

  /** What stands, for a request that needs a place among those that run at once, or takes that of one. */
  #standing(needsPlace: boolean): Standing {
    const { standing, brakes } = this.#parts;
    return needsPlace ? standing : { ...standing, brakes: { judge: (request) => brakes.judgeNext(request) } };
  }

  /** `chosen` is where the message was to go, if what is waited for fails; null where that is not decided yet. */
  async #advanceLater(
    known: Promise<unknown>,
    asked: Asked,
    body: BodyFacts,
    chosen: Chosen | null,
    done: (verdict: Verdict) => void,
  ): Promise<void> {
    try {
      await known;
    } catch (error) {
      this.#refuse(asked, this.#parts.refuser.refusalOf(error), chosen, done);
      return;
    }
    this.#advance(asked, body, done);
  }

  /** Finds out what the decision needs: of the message at once, of anything else later. */
  #learn({ message, facts, received }: Asked, body: BodyFacts, need: Need): BodyFacts | Promise<unknown> {
    const { client } = received;
    switch (need.what) {
      case "process":
        return client.settle();
      case "project":
        return client.peer.whenProjectKnown();
      case "creator":
      case "batch":
        throw new Error("a message on a WebSocket is about no stored object, and is no batch");
      case "spending":
        return this.#parts.budgets.counting ?? Promise.resolve();
      // A message is not compressed by the headers of its handshake.
      case "copy":
      case "model":
        return { ...body, reader: this.#messages.readModel(message.payload, facts, need.only) };
      case "size": {
        const sizes = new SizeReader();
        for (const bytes of message.payload) sizes.feed(bytes);
        const { size } = sizes;
        const reader = body.reader ?? this.#messages.readModel(message.payload, facts, need.only);
        return { ...body, reader, size: { ...size, input: size.input + this.#messages.contextTokens } };
      }
      case "fingerprint":
        return { ...body, fingerprint: this.#fingerprint(message) };
    }
  }

  /** What tells a message from others, after the conversation so far. */
  #fingerprint({ payload }: ClientMessage): string {
    const { path } = this.#handshake.request.match.route;
    const hash = this.#parts.brakes.startFingerprint(
      this.#conversation === null ? path : `${path} ${this.#conversation}`,
    );
    for (const bytes of payload) hash.feed(bytes);
    return hash.digest();
  }

  #conclude(
    asked: Asked,
    step: Exclude<ReturnType<typeof decide>, Need | { kind: "list" }>,
    done: (verdict: Verdict) => void,
  ): void {
    if (step.kind === "refuse") {
      this.#refuse(asked, step.refusal, step.chosen, done);
      return;
    }
    const { received, message, facts } = asked;
    // Where anything is limited, no decoder may take it for another message.
    const uncertain = step.policy === null ? null : this.#messages.findUncertainty(message.payload);
    if (uncertain !== null) {
      this.#refuse(asked, unreadableModel(uncertain), step, done);
      return;
    }
    if (facts.setup !== null) this.#setupAlias = step.alias;
    const pinned = this.#pinned;
    if (pinned !== null && !this.#goesTo(pinned.choice, step, received)) {
      done({ kind: "reconnect" });
      return;
    }
    const model = step.model ?? this.#messages.model;
    const goOn = () => {
      if (this.#messages.continues) this.#conversation = step.fingerprint ?? this.#conversation;
      done(go);
    };
    const choice = pinned?.choice ?? step.choice;
    const go = { kind: "go", facts, received, decision: { ...step, model, choice } } as const;
    // The login, or the tool's own key, is that of the handshake: none is read.
    if (pinned === null || choice.account !== "key") {
      goOn();
      return;
    }
    const { keyring } = this.#parts;
    const { key } = choice;
    const secret = keyring.cached(key);
    if (secret === null) {
      void this.#advanceLater(keyring.require(key), asked, NOTHING_READ, step, done);
      return;
    }
    if (secret.isSameAs(pinned.secret)) goOn();
    else done({ kind: "reconnect" });
  }

  #refuse(
    { facts, received }: Asked,
    refusal: Refusal,
    chosen: Chosen | null,
    done: (verdict: Verdict) => void,
  ): void {
    done({ kind: "refuse", facts, received, refusal, chosen });
  }

  /** True while messages of this client would still get a WebSocket to the same upstream, in the same way. A pause does not change that. */
  isStillPinned(): boolean {
    const settings = this.#parts.settings();
    const client = this.#parts.identify(this.#handshake, settings, null);
    const { standing } = this.#parts;
    const step = decideHandshake({ ...this.#handshake, client }, settings, standing, this.#messages.model);
    if (step.kind === "accept")
      return (
        (this.#pinned === null || describe(step.choice) === describe(this.#pinned.choice)) &&
        this.#aliasNow(step.choice, client.tool, settings) === this.#setupAlias
      );
    return step.kind === "need" || !ENDING.has(step.refusal.code);
  }

  /** What a setup would have now in place of the model that the client named. Only a key's requests have aliases. */
  #aliasNow({ account }: Choice, tool: string, settings: Settings): string | null {
    const { model } = this.#messages;
    if (model === null || account !== "key") return null;
    return settings.aliasesFor(tool)?.get(model) ?? null;
  }

  /** The same for a message, whose upstream is chosen. */
  #goesTo(pinned: Choice, { choice, alias }: Chosen, { client, settings }: ClientRequest): boolean {
    // Another tool may send a message by now, with other aliases.
    if (this.#messages.model !== null && alias !== this.#setupAlias) return false;
    if (settings === this.#checked) return true;
    if (findObstacle(choice, client.tool, settings) !== null) return false;
    if (describe(choice) !== describe(pinned)) return false;
    this.#checked = settings;
    return true;
  }
}

/** A message that is being judged. */
interface Asked {
  message: ClientMessage;
  facts: MessageFacts;
  received: ClientRequest;
}

/** Everything of a choice that the handshake has fixed. */
function describe({ upstream, key, route, path }: Choice): string {
  const { name, origin, host, fixed, anthropicVersion } = upstream;
  return JSON.stringify([name, origin, host, fixed.headers, anthropicVersion, key, route, path]);
}
