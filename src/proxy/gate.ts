import { randomInt } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { crc32 } from "node:zlib";
import { admit } from "../core/http/admission.ts";
import {
  explainDecision,
  judgePlanAddress,
  type PlannedRequest,
  type RoutedRequest,
} from "../core/decide/explain.ts";
import { Conversations } from "../core/misses/conversations.ts";
import { withKeyOfUrl } from "../core/http/gemini/live-path.ts";
import { HeaderIndex } from "../core/http/header-index.ts";
import { isLive } from "../core/http/routes.ts";
import { readOwnKey } from "../core/plans/own-keys.ts";
import { headTooLarge } from "../core/refusals/limits.ts";
import { RefusalError, type Refusal, type UnrecordedRefusal } from "../core/refusals/refusal.ts";
import type { Creator } from "../core/decide/creator.ts";
import type { UsageRecord } from "../core/ledger/record.ts";
import type { MessageIds } from "../core/identity/agent.ts";
import type { RequestSignatures } from "../core/identity/signatures.ts";
import type { Budgets, Captures, Clock, Creators, Ledger, Limits, Log, Pauses } from "../ports.ts";
import { decide } from "../core/decide/decide.ts";
import type { Standing } from "../core/decide/decision.ts";
import { Connections, maxConnections } from "./client/connections.ts";
import { MAX_HEADER_BYTES, type ConnectionHandler, type InvalidRequest } from "./client/listener.ts";
import type { Peer } from "./client/peer.ts";
import type { PeerGuard } from "./client/peer-guard.ts";
import { readArrival, type Books, type ClientRequest, type Exchange } from "./exchange/exchange.ts";
import { learn, NOTHING_LEARNED, type ReadBody, type Sources } from "./exchange/learn.ts";
import { guardModel } from "./exchange/model-guard.ts";
import { RecordBatch } from "./exchange/record-batch.ts";
import { RunningExchanges } from "./exchange/running-exchanges.ts";
import { countReadAhead } from "./client/read-ahead.ts";
import { SharedBuffer } from "./exchange/shared-buffer.ts";
import { ClientIdentity, findTokenRule } from "./client/identity.ts";
import { withSentKeys } from "./client/sent-keys.ts";
import type { PlanAccounts } from "./plan-accounts.ts";
import { Brakes } from "./brakes.ts";
import type { Keyring } from "./keyring.ts";
import { UpstreamPools } from "./upstream/pools.ts";
import { ModelLists } from "./model-lists.ts";
import { METRICS_ONLY, OTHER_USER } from "../core/refusals/access.ts";
import { PIPELINED } from "../core/refusals/routes.ts";
import type { FailureReasons } from "./refusals/failure-reasons.ts";
import { RefusalSummary } from "./refusals/summary.ts";
import { bareResponse } from "./refusals/send.ts";
import { Refuser } from "./refusals/refuser.ts";
import { CheckPass } from "./refusals/check-pass.ts";
import {
  mayAsk,
  resolveRoute,
  type LocalRequest,
  type LocalRoute,
  type Resolution,
} from "../core/decide/resolve-route.ts";
import { Sender } from "./sender.ts";
import { isSigned, prepareSigner } from "./signing.ts";
import { readPayload } from "./exchange/read-payload.ts";
import { Sockets } from "./websocket/sockets.ts";
import type { Destination, Settings } from "../core/decide/settings.ts";
import type { TokenRegistry } from "./client/token-registry.ts";

/** Responds to the requests for one local route. Never throws. */
type LocalHandler = (req: IncomingMessage, res: ServerResponse, peer: Peer, request: LocalRequest) => void;

/** What the gate works with; made by the composition root. */
interface GateParts {
  settings: Settings;
  local: Readonly<Record<LocalRoute, LocalHandler>>;
  keyring: Keyring;
  ledger: Ledger;
  peers: PeerGuard;
  tokens: TokenRegistry;
  pauses: Pauses;
  budgets: Budgets;
  creators: Creators;
  limits: Limits;
  captures: Captures;
  /** Tells the accounts of plans apart. */
  accounts: PlanAccounts;
  /** Evidence that identifies tools by their headers. */
  signatures: RequestSignatures;
  /** Names of the tools whose settings `tollkeeper connect` can write. */
  connectable: ReadonlySet<string>;
  clock: Clock;
  log: Log;
  /** For the commands of refusals, from `configOptionOf`. */
  configOption: string;
  /** Receives the refusals that leave no record. */
  onUnrecorded(refusal: UnrecordedRefusal): void;
  /** How many files and sockets the process may have open. */
  descriptorLimit: number;
}

/** What says who sends a request. */
interface Identifiable {
  request: { mark: string | null };
  headers: HeaderIndex;
  client: { peer: Peer };
}

/** Where requests arrive. {@link Gate.handle} is the path of one request; docs/architecture.md walks through it. */
export class Gate implements ConnectionHandler {
  readonly #parts: GateParts;
  readonly #pools: UpstreamPools;
  readonly #connections: Connections;
  readonly #books: Books;
  readonly #refusals: RefusalSummary;
  readonly #refuser: Refuser;
  /** Tells the refusals that `tollkeeper check` provokes from others. */
  readonly checkPass: CheckPass;
  /** The lists of models that several upstreams share. */
  readonly models: ModelLists;
  readonly #buffer: SharedBuffer;
  readonly #brakes: Brakes;
  readonly #standing: Standing;
  readonly #sources: Sources;
  readonly #sender: Sender;
  readonly #sockets: Sockets;
  #settings: Settings;
  #draining = false;

  constructor(parts: GateParts) {
    const { settings, keyring, ledger, peers, pauses, budgets, limits } = parts;
    const { clock, log, onUnrecorded, descriptorLimit } = parts;
    this.#parts = parts;
    this.#settings = settings;
    this.#pools = new UpstreamPools(clock, settings.config.outbound);
    this.#books = {
      ledger,
      batch: new RecordBatch(ledger),
      running: new RunningExchanges(clock, ledger),
      conversations: new Conversations({ key: randomInt(2 ** 32), checksum: crc32 }),
      captures: parts.captures,
      accounts: parts.accounts,
      clock,
    };
    const most = maxConnections(descriptorLimit);
    this.#connections = new Connections(most);
    this.models = new ModelLists(keyring, clock);
    this.#refusals = new RefusalSummary(clock, log);
    this.checkPass = new CheckPass(clock);
    this.#refuser = new Refuser({
      clock,
      log,
      summary: this.#refusals,
      checkPass: this.checkPass,
      configOption: parts.configOption,
      onUnrecorded: (refused) => onUnrecorded({ ...refused, path: keyring.redact(refused.path) }),
    });
    this.#buffer = new SharedBuffer(settings.config.limits.bufferBytes);
    this.#brakes = new Brakes(clock);
    this.#standing = {
      pauses,
      brakes: this.#brakes,
      limits,
      budgets,
      creators: { find: (id) => this.#findCreator(id) },
    };
    this.#sources = { budgets, creators: parts.creators, brakes: this.#brakes, buffer: this.#buffer };
    this.#sender = new Sender({
      pools: this.#pools,
      keyring,
      peers,
      books: this.#books,
      buffer: this.#buffer,
      refuser: this.#refuser,
      budgets,
      brakes: this.#brakes,
      limits,
    });
    this.#sockets = new Sockets({
      pools: this.#pools,
      connections: this.#connections,
      maxConnections: most,
      sender: this.#sender,
      keyring,
      books: this.#books,
      buffer: this.#buffer,
      refuser: this.#refuser,
      budgets,
      brakes: this.#brakes,
      limits,
      standing: this.#standing,
      settings: () => this.#settings,
      identify: (handshake, now, ids) => this.#identify(handshake, now, ids),
      admits: ({ req, headers }) => this.#admits(req, headers),
    });
    this.#allowUsers(settings);
    prepareSigner(settings);
  }

  /** Takes a new connection, before any request of it. */
  accept(socket: Socket, isOnUnixSocket: boolean): void {
    this.#connections.open(socket);
    if (isOnUnixSocket) this.#parts.peers.admitOnUnixSocket(socket);
    else void this.#inspect(socket);
    if (this.#draining) this.release(socket);
    else this.#preconnect(this.#settings.destinations[0]);
  }

  /** Connections with the own keys of tools are shared by none, and so opened for none ahead. */
  #preconnect({ account, upstream }: Destination): void {
    if (account === "key") this.#pools.preconnect(upstream.origin);
  }

  /** Closes a connection once the response that is under way on it has been sent. */
  release(socket: Socket): void {
    this.#endRecorded();
    void this.#connections.release(socket);
  }

  /** Node would send the same, but for a head that is too large: that is a refusal, which says so. */
  refuseInvalid(socket: Socket, error: InvalidRequest): void {
    const mayRespond = socket.writable && this.#connections.mayRespond(socket);
    if (mayRespond && error.code === "HPE_HEADER_OVERFLOW")
      this.#refuser.refuseHead(socket, error.rawPacket, headTooLarge(MAX_HEADER_BYTES));
    else {
      if (mayRespond) socket.write(bareResponse(error.code));
      socket.destroy(error);
    }
  }

  /**
   * Handles one request. `expectsContinue`: the client waits for `100 Continue` before it sends its body. Never rejects:
   * whatever a step throws becomes a refusal.
   */
  async handle(req: IncomingMessage, res: ServerResponse, expectsContinue: boolean): Promise<void> {
    const settings = this.#settings;
    let client: ClientIdentity | null = null;
    let exchange: Exchange | null = null;
    try {
      // 1. Admit.
      let headers = new HeaderIndex(req.rawHeaders);
      const peer = this.#admit(req, res, headers, settings);

      // 2. Resolve.
      const resolved = resolveRoute(req, headers, settings);
      if (resolved.kind === "socket" && isLive(resolved.match.route))
        headers = withKeyOfUrl(headers, resolved.query);
      const request = this.#nameAccount(resolved, headers, settings);
      if (!mayAsk(peer, request)) throw new RefusalError(METRICS_ONLY);
      if (request.kind === "local") {
        this.#parts.local[request.route](req, res, peer, request);
        return;
      }
      // Kind "refusal" goes on: a pause and a missing token come first.
      if (request.kind === "browser") throw new RefusalError(request.refusal);

      // 3. Identify.
      client = this.#identify({ request, headers, client: { peer } }, settings, null);
      if (request.kind === "socket") {
        await this.#sockets.handle({ req, res, request, headers, client, settings, expectsContinue });
        return;
      }

      // 4. Decide what becomes of it, reading of the body what that depends on.
      const received: ClientRequest = {
        req,
        res,
        request,
        headers,
        client,
        settings,
        expectsContinue,
        arrival: null,
      };
      let body: ReadBody = NOTHING_LEARNED;
      let decision = decide(received, body, settings, this.#standing);
      while (decision.kind === "need") {
        received.arrival ??= readArrival(this.#parts.clock);
        body = await learn(received, body, decision, this.#sources);
        if (req.socket.destroyed) return;
        decision = decide(received, body, settings, this.#standing);
      }
      if (decision.kind === "list") {
        await this.models.respond(received, decision);
        return;
      }

      // 5. Open the exchange. A request with an upstream leaves one record, however it ends.
      if (decision.kind === "refuse") {
        if (decision.chosen !== null) exchange = this.#sender.openRefused(received, decision.chosen);
        throw new RefusalError(decision.refusal);
      }
      const opened = this.#sender.open(received, decision);
      exchange = opened.exchange;
      if (opened.refusal !== null) throw new RefusalError(opened.refusal);

      // 6. Read the body, if it is to be signed. Get the key, or find the login that came with the request. After the last wait, see whether the client is still there; the round trip notices from then on.
      const { choice } = exchange;
      const mayContinue = expectsContinue && body === NOTHING_LEARNED;
      const toSign = choice.account === "key" && isSigned(choice) ? choice : null;
      if (toSign !== null && mayContinue) res.writeContinue();
      const payload = toSign === null ? null : await readPayload(req, settings.limits, this.#buffer);
      const held = this.#parts.keyring.findCredential(choice, headers);
      const secret =
        held instanceof Promise
          ? await countReadAhead(req, decision.announcedBytes, this.#buffer, held)
          : held;
      const signed =
        toSign === null || payload === null
          ? null
          : await this.#sender.sign(received, toSign, secret, payload);
      const hasWaited = held instanceof Promise || signed !== null;
      if ((hasWaited && (await this.#parts.peers.hasLeft(req.socket))) || req.socket.destroyed) {
        exchange.recordCut(null, "client");
        return;
      }

      // 7. Send. Nothing is awaited here: steps 8 to 10 (docs/architecture.md) are called by what happens on the connections.
      if (mayContinue && toSign === null) res.writeContinue();
      const guard = guardModel(decision, body.reader);
      this.#sender.send(opened, decision, secret, guard, signed);
    } catch (error) {
      this.#refuser.refuse(req, res, error, client?.tool ?? null, exchange);
    }
  }

  /** Returns the request with the account of the plan that pays for it, where that is known, or with the name of the tool's own key. */
  #nameAccount(request: Resolution, headers: HeaderIndex, settings: Settings): Resolution {
    if (request.kind !== "api" && request.kind !== "socket") return request;
    const { accounts, clock } = this.#parts;
    if (request.plan !== null) return { ...request, plan: accounts.name(request.plan, headers, clock.now()) };
    if (!settings.passesOwnKeys) return request;
    const { key } = readOwnKey(headers, request.match.route.api);
    return { ...request, ownKey: key === null ? null : accounts.nameKey(key) };
  }

  /** Says who sends a request, or a message on a WebSocket, which may have ids of its own. */
  #identify(
    { request, headers, client: { peer } }: Identifiable,
    settings: Settings,
    ids: MessageIds | null,
  ): ClientIdentity {
    const { tokens, keyring, signatures, connectable } = this.#parts;
    const tokenRule = findTokenRule(headers, settings);
    const redactor = settings.passesOwnKeys ? withSentKeys(headers, keyring) : keyring;
    return new ClientIdentity(
      { mark: request.mark, headers, ids, peer, tokenRule, keyring: redactor, signatures, connectable },
      tokens,
    );
  }

  /** As {@link Creators.find}. A stream that still runs has no record yet. */
  #findCreator(id: string): Creator | null | undefined {
    const known = this.#parts.creators.find(id);
    return known ?? this.#books.running.findCreator(id) ?? known;
  }

  /** Takes effect for the next request and the next connection. Running requests keep the settings they started with. */
  use(settings: Settings): void {
    this.#settings = settings;
    this.#sender.resetCircuits();
    this.#allowUsers(settings);
    prepareSigner(settings);
    this.#sockets.onSettings();
    this.#pools.setOutbound(settings.config.outbound);
    this.#buffer.setLimit(settings.config.limits.bufferBytes);
  }

  /** Does work in advance that would otherwise slow down the first request. Call it when nothing waits for it. */
  prepare(): void {
    this.#pools.prepare(this.#settings.destinations[0].upstream.origin);
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Why attempts failed. */
  get failures(): Pick<FailureReasons, "find"> {
    return this.#refuser.failures;
  }

  /** What was refused since the start. */
  get refusals(): Pick<RefusalSummary, "totals"> {
    return this.#refusals;
  }

  /** Returns for how many milliseconds requests with a fallback skip an upstream; null if they do not. */
  cooldownOf(upstream: string): number | null {
    return this.#sender.circuits.cooldownOf(upstream, this.#parts.clock.monotonic());
  }

  /** Ends the exchanges of these tools. Each is recorded as cut by us. Returns how many there were. */
  cut(isMeant: (tool: string) => boolean): number {
    return this.#books.running.abort(isMeant);
  }

  /** Says why a request for a model would be refused at this moment; null if it would go. */
  refusalFor(request: RoutedRequest): Refusal | null {
    return explainDecision(this.#settings, request, this.#standing).refusal;
  }

  /** As {@link refusalFor}, for a request at the address of a tool's plan. */
  planRefusalFor(request: PlannedRequest): Refusal | null {
    const { accounts, clock } = this.#parts;
    const isExtra = accounts.isExtra(request.account, clock.now());
    return judgePlanAddress(this.#settings, request, this.#standing, isExtra);
  }

  /** Number of exchanges that are under way. */
  get openExchanges(): number {
    return this.#books.running.size;
  }

  /** Returns the newest exchanges under way, at most so many: the records that they would leave now. */
  listOpen(atMost: number): UsageRecord[] {
    return this.#books.running.soFar(atMost);
  }

  /** Bytes that wait until a client or an upstream reads them. */
  get bufferedBytes(): number {
    return this.#buffer.usedBytes;
  }

  /**
   * From now on each connection closes after the response that is under way on it. Resolves when the last connection has
   * closed and the last exchange has ended; one whose client has disconnected may still be waiting for its usage.
   */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#endRecorded();
    await this.#connections.drain();
    await this.#books.running.ended();
  }

  /**
   * Ends the responses that only wait for their records. Their heads may have been made without `Connection: close`, and a client that
   * reads such a head sends its next request, which has to be answered.
   */
  #endRecorded(): void {
    this.#books.batch.flush();
  }

  /** Ends everything that is still under way. Each exchange leaves its record. */
  close(): void {
    this.#books.running.abort();
    this.#endRecorded();
    this.#pools.close();
    this.#connections.destroy();
    this.#refusals.flush();
  }

  #allowUsers({ config }: Settings): void {
    this.#parts.peers.setAllowedUids(config.access.peerUid, config.export.metrics?.peerUid ?? []);
  }

  /** A refused connection is also released: it has time for the request that gets the refusal, and no more. */
  async #inspect(socket: Socket): Promise<void> {
    const isAdmitted = await this.#parts.peers.inspect(socket, this.#settings.config.ledger.project);
    if (!isAdmitted) this.release(socket);
  }

  /** Returns null for a connection on the Unix socket; 0, which no Host names, for one that has ended. */
  #portless(socket: Socket): null | 0 {
    return this.#parts.peers.admitted(socket)?.isOnUnixSocket === true ? null : 0;
  }

  /** True while a request with this head, on this connection, would still be admitted. */
  #admits({ socket, httpVersion }: IncomingMessage, headers: HeaderIndex): boolean {
    const localPort = socket.localPort ?? this.#portless(socket);
    if (admit({ httpVersion, headers, localPort }, this.#settings.rules) !== null) return false;
    return this.#parts.peers.admitted(socket)?.permission.usesProxy === true;
  }

  #admit(req: IncomingMessage, res: ServerResponse, headers: HeaderIndex, settings: Settings): Peer {
    const { socket, httpVersion } = req;
    const localPort = socket.localPort ?? this.#portless(socket);
    // First, because a refused request also occupies its connection until its response has been sent.
    const isFree = this.#connections.occupy(socket, res);
    const refusal = admit({ httpVersion, headers, localPort }, settings.rules);
    if (refusal !== null) throw new RefusalError(refusal);
    if (!isFree) throw new RefusalError(PIPELINED);
    const peer = this.#parts.peers.admitted(socket);
    if (peer === null) throw new RefusalError(OTHER_USER);
    return peer;
  }
}
