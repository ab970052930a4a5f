import type { Mutant } from "./mutant.ts";

const A5 = { row: "A5", test: "test/security/a5-websockets.test.ts" };
const C12 = { row: "C12", test: "test/security/c12-websocket-messages.test.ts" };
const D6 = { row: "D6", test: "test/proxy/websocket/limits.test.ts" };
const TURNS = "src/proxy/websocket/turns.ts";
const MESSAGE = "src/core/websocket/client-message.ts";
const INFLATER = "src/proxy/websocket/inflater.ts";
const COMPRESSION = "test/proxy/websocket/compression.test.ts";
const JUDGE = "src/proxy/websocket/judge.ts";
const RELAY = "src/proxy/websocket/relay.ts";
const LIVE = { row: "C12", test: "test/proxy/websocket/live-policy.test.ts" };
const LIVE_UPSTREAMS = { row: "C12", test: "test/proxy/websocket/live-upstreams.test.ts" };
const EARLY = "src/proxy/websocket/early-socket.ts";
const SOCKETS = "src/proxy/websocket/sockets.ts";
const LIVE_TURNS = "src/proxy/websocket/live-turns.ts";
const LIVE_MESSAGES = "src/proxy/websocket/live-messages.ts";
const SETUP = "src/core/websocket/live-message.ts";

/** Rules on WebSockets: A5, C12, and of C11, D2 and D6 what concerns them. */
export const WEBSOCKETS: readonly Mutant[] = [
  {
    ...A5,
    without: "refusing a WebSocket with a listed Origin",
    file: "src/core/decide/resolve-route.ts",
    find: 'headers.has("origin") || isFromBrowser(headers)',
    replace: "isFromBrowser(headers)",
  },
  {
    ...A5,
    without: "refusing a WebSocket with a header that only browsers send",
    file: "src/core/decide/resolve-route.ts",
    find: 'headers.has("origin") || isFromBrowser(headers)',
    replace: 'headers.has("origin")',
  },
  {
    ...A5,
    without: "opening a WebSocket only where an upstream allows it",
    file: "src/core/decide/handshake.ts",
    find: "if (websocket === false) return declined",
    replace: "if (websocket !== false) return declined",
  },
  {
    ...C12,
    without: "reading a message to its end for its model",
    file: MESSAGE,
    find: "place: fault === null ? reader.place : null",
    replace: "place: reader.place",
  },
  {
    ...C12,
    without: "refusing a message whose type is not certain",
    file: JUDGE,
    find: "step.policy === null ? null : this.#messages.findUncertainty(message.payload)",
    replace: `message.bytes < 0 ? "" : null`,
  },
  {
    ...C12,
    without: "knowing the response that a steer names",
    file: "src/proxy/websocket/response-messages.ts",
    find: "follows === null ? null : (this.#models.get(follows) ?? null)",
    replace: "[...this.#models.values()][0] ?? null",
  },
  {
    ...C12,
    without: "keeping back a message that is refused",
    file: "src/proxy/websocket/relay.ts",
    find: "const { received, chosen, refusal, facts } = verdict;",
    replace:
      "const { received, chosen, refusal, facts } = verdict;\n      this.#toUpstream.write(Buffer.concat(message.raw));",
  },
  {
    ...C12,
    without: "refusing a compressed message of which other readers could read more",
    file: INFLATER,
    find: "if (end < 0 || !inflated.subarray(end).equals(PROBE))",
    replace: "if (end < 0)",
  },
  {
    ...C12,
    without: "refusing a compressed message that goes on in the next one",
    file: INFLATER,
    find: "content.subarray(-LAST_BLOCK.length).equals(LAST_BLOCK)",
    replace: "content.length < 0",
  },
  {
    ...C12,
    test: COMPRESSION,
    without: "sending what follows a refused message so that the upstream can read it",
    file: "src/proxy/websocket/relay.ts",
    find: "this.#lacksContext ||= message.isCompressed",
    replace: "this.#lacksContext ||= message.bytes < 0",
  },
  {
    ...C12,
    test: COMPRESSION,
    without: "agreeing on compression before a message is compressed",
    file: "src/core/websocket/frame-reader.ts",
    find: "reserved === COMPRESSED_BIT && isFirst && this.#mayCompress",
    replace: "reserved === COMPRESSED_BIT && isFirst",
  },
  {
    ...C12,
    test: "test/core/websocket/compression.test.ts",
    without: "offering compression that can be read in one way only",
    file: "src/core/websocket/compression.ts",
    find: ".filter(([name]) => name !== CLIENT_WINDOW)",
    replace: '.filter(([name]) => name !== "")',
  },
  {
    ...D6,
    test: COMPRESSION,
    without: "limiting what a compressed message inflates to",
    file: INFLATER,
    find: "maxOutputLength: mostBytes,",
    replace: "maxOutputLength: 16 * mostBytes,",
  },
  {
    ...D6,
    test: COMPRESSION,
    without: "counting what has come of a compressed message",
    file: "src/proxy/websocket/compressed-events.ts",
    find: "this.#bytes > MOST_BYTES || this.#buffer.isFull",
    replace: "this.#bytes > MOST_BYTES",
  },
  {
    row: "C11",
    test: "test/proxy/websocket/policy.test.ts",
    without: "holding what may be spent after a message that asks for no response",
    file: "src/proxy/websocket/relay.ts",
    find: "facts.mayBegin ? sender.hold(received, decision, decision.choice, facts.needsPlace) : null",
    replace:
      "facts.lane.length < 0 ? sender.hold(received, decision, decision.choice, facts.needsPlace) : null",
  },
  {
    row: "D2",
    test: "test/proxy/websocket/handshake.test.ts",
    without: "passing only framed responses in place of a WebSocket",
    file: "src/proxy/websocket/upstream-handshake.ts",
    find: "PASSED_STATUSES.has(status) && isFramed(incoming.head)",
    replace: "PASSED_STATUSES.has(status) && status > 0",
  },
  {
    ...D6,
    without: "limiting the responses that an upstream begins of its own accord",
    file: TURNS,
    find: "if (this.#unasked >= MOST_UNASKED || this.size >= MOST_UNDER_WAY)",
    replace: "if (this.#unasked > 1_000_000)",
  },
  {
    ...D6,
    without: "allowing them again after each message",
    file: TURNS,
    find: "this.#unasked = 0;\n    if (isSteer",
    replace: "if (isSteer",
  },
  {
    ...LIVE,
    without: "comparing a message together with its conversation",
    file: JUDGE,
    find: "if (this.#messages.continues) this.#conversation",
    replace: "if (!this.#messages.continues) this.#conversation",
  },
  {
    ...LIVE,
    without: "a place of its own for what asks for a turn on another WebSocket",
    file: LIVE_MESSAGES,
    find: "needsPlace: setup !== null || !hasPlace",
    replace: "needsPlace: setup !== null && !hasPlace",
  },
  {
    ...LIVE,
    without: "judging the turn that follows the one that was asked for",
    file: LIVE_TURNS,
    find: "this.#isJudged = !isCreate;",
    replace: "this.#isJudged = isCreate || !isCreate;",
  },
  {
    ...LIVE,
    without: "closing a WebSocket whose setup would get another alias now",
    file: JUDGE,
    find: "this.#aliasNow(step.choice, client.tool, settings) === this.#setupAlias",
    replace: "this.#aliasNow(step.choice, client.tool, settings) !== undefined",
  },
  {
    ...LIVE,
    without: "refusing a second setup on the Live API",
    file: LIVE_MESSAGES,
    find: 'setup === null ? null : "only the first message may be a setup"',
    replace: "null",
  },
  {
    ...LIVE,
    without: "asking for a setup first on the Live API",
    file: LIVE_MESSAGES,
    find: 'setup === null ? "the first message is no setup" : null',
    replace: "null",
  },
  {
    ...LIVE,
    without: "refusing a setup with two models",
    file: SETUP,
    find: 'if (this.#setup !== null) return this.fail("the setup names two models");',
    replace: "",
  },
  {
    ...LIVE,
    without: "refusing another spelling of a setup",
    file: SETUP,
    find: "if (readLoosely(raw) === name) this.fail(",
    replace: "if (raw.length < 0) this.fail(",
  },
  {
    ...LIVE,
    without: "judging a turn of the Live API before it begins",
    file: LIVE_MESSAGES,
    find: "isJoined: setup === null && isAwaited && !endsUserTurn,",
    replace: "isJoined: setup === null,",
  },
  {
    ...LIVE,
    without: "ending a WebSocket on which the service begins turns that may not be paid",
    file: RELAY,
    find: "isJudged ? null : this.#judge.judgeSuccessor(decision, needsPlace)",
    replace: "null",
  },
  {
    ...LIVE,
    without: "putting an alias into the setup",
    file: RELAY,
    find: "if (!isReplaced && (!isCompressed || !this.#lacksContext)) return Buffer.concat(raw);",
    replace: "return Buffer.concat(raw);",
  },
  {
    row: "C11",
    test: "test/proxy/websocket/live-policy.test.ts",
    without: "holding the conversation so far for a turn of the Live API",
    file: JUDGE,
    find: "input: size.input + this.#messages.contextTokens",
    replace: "input: size.input",
  },
  {
    row: "C3",
    test: "test/proxy/websocket/live.test.ts",
    without: "going on with the key where a tool has a token that a key has made",
    file: "src/core/http/gemini/live-path.ts",
    find: "BidiGenerateContent)(?:Constrained)?$/",
    replace: "BidiGenerateContent(?:Constrained)?)$/",
  },
  {
    row: "A12",
    test: "test/proxy/websocket/live.test.ts",
    without: "finding a local token in the URL of the Live API in one way only",
    file: "src/core/http/gemini/live-path.ts",
    find: "others.length > 0 || !KEY.test(key)",
    replace: "!KEY.test(key)",
  },
  {
    row: "E5",
    test: "test/proxy/websocket/policy.test.ts",
    without: "the record of a message whose key cannot be read",
    file: JUDGE,
    find: "keyring.require(key), asked, NOTHING_READ, step, done",
    replace: "keyring.require(key), asked, NOTHING_READ, null, done",
  },
  {
    ...LIVE_UPSTREAMS,
    without: "leaving the setup to the upstream that it decides on",
    file: EARLY,
    find: "client.unshift(Buffer.concat(arrived));",
    replace: "client.unshift(Buffer.concat(arrived.slice(1)));",
  },
  {
    ...LIVE_UPSTREAMS,
    without: "ending a WebSocket on which no setup comes",
    file: EARLY,
    find: 'const timer = setTimeout(() => fail(1008, "tollkeeper: no setup has come"), bodyIdleMs);',
    replace:
      'const timer = setTimeout(() => fail(1008, "tollkeeper: no setup has come"), 10 * bodyIdleMs + 90_000);',
  },
  {
    ...LIVE_UPSTREAMS,
    without: "asking only an upstream whose WebSockets are on",
    file: SOCKETS,
    find: "const obstacle = findObstacle(choice, handshake.client.tool, this.#parts.settings());",
    replace:
      'const obstacle = choice.path === "" ? findObstacle(choice, handshake.client.tool, this.#parts.settings()) : null;',
  },
  {
    ...LIVE_UPSTREAMS,
    without: "offering no compression that the client was not offered",
    file: EARLY,
    find: 'policy.name !== "sec-websocket-extensions"',
    replace: 'policy.name !== "sec-websocket-nothing"',
  },
  {
    row: "C12",
    test: "test/proxy/websocket/handshake.test.ts",
    without: "looking again at a WebSocket whose settings have changed while it waited",
    file: SOCKETS,
    find: "if (this.#parts.settings() !== handshake.settings) relay.review();",
    replace: "if (this.#parts.settings() === null) relay.review();",
  },
];
