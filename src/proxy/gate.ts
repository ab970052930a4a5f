import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { admit } from "../core/http/admission.ts";
import { HeaderIndex } from "../core/http/header-index.ts";
import { RefusalError, type UnrecordedRefusal } from "../core/http/refusal.ts";
import type { UsageRecord } from "../core/ledger/record.ts";
import type { RequestSignatures } from "../core/identity/signatures.ts";
import { comparesBodies, isBudgeted, mustNameModel } from "../core/policy/tool-policy.ts";
import type { Budgets, Clock, Ledger, Log, Pauses } from "../ports.ts";
import { checkLength, chooseByModel, chosenAtOnce, sizeUp, type Chosen } from "./choose-by-model.ts";
import { chooseUpstream, namesModel } from "./choose-upstream.ts";
import { Connections, maxConnections } from "./client/connections.ts";
import type { ConnectionHandler } from "./client/listener.ts";
import type { Peer } from "./client/peer.ts";
import type { PeerGuard } from "./client/peer-guard.ts";
import type { Books, ExchangeRecorder } from "./exchange/exchange-recorder.ts";
import { FailureReasons } from "./exchange/failure-reasons.ts";
import { createForwarder, type Forwarder } from "./exchange/forward.ts";
import { RecordBatch } from "./exchange/record-batch.ts";
import { RunningExchanges } from "./exchange/running-exchanges.ts";
import { readAhead } from "./exchange/read-ahead.ts";
import { SharedBuffer } from "./exchange/shared-buffer.ts";
import { ClientIdentity, findTokenRule } from "./authenticate-client.ts";
import { Brakes } from "./brakes.ts";
import type { Keyring } from "./keyring.ts";
import { isOwnList, ModelLists } from "./model-lists.ts";
import { METRICS_ONLY, OTHER_USER, PIPELINED } from "./gate-refusals.ts";
import { RefusalSummary } from "./refusal-summary.ts";
import { Refuser } from "./refuser.ts";
import { CheckPass } from "./check-pass.ts";
import { mayAsk, resolveRoute, type LocalRequest, type LocalRoute } from "./resolve-route.ts";
import { Sender, type ChosenRequest } from "./sender.ts";
import type { Settings } from "./settings.ts";
import type { TokenRegistry } from "./token-registry.ts";

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
  /** Evidence that identifies tools by their headers. */
  signatures: RequestSignatures;
  /** Names of the tools whose settings `tollkeeper connect` can write. */
  connectable: ReadonlySet<string>;
  clock: Clock;
  log: Log;
  /** Receives the refusals that leave no record. */
  onUnrecorded(refusal: UnrecordedRefusal): void;
  /** How many files and sockets the process may have open. */
  descriptorLimit: number;
}

/** Where requests arrive. {@link Gate.handle} is the path of one request; docs/architecture.md walks through it. */
export class Gate implements ConnectionHandler {
  readonly #parts: GateParts;
  readonly #forwarder: Forwarder;
  readonly #connections: Connections;
  readonly #books: Books;
  readonly #refusals: RefusalSummary;
  readonly #refuser: Refuser;
  /** Tells the refusals that `tollkeeper check` provokes from others. */
  readonly checkPass: CheckPass;
  /** Why round trips failed. */
  readonly failures = new FailureReasons();
  /** The lists of models that several upstreams share. */
  readonly models: ModelLists;
  readonly #buffer: SharedBuffer;
  readonly #brakes: Brakes;
  readonly #sender: Sender;
  #settings: Settings;
  #draining = false;

  constructor(parts: GateParts) {
    const { settings, keyring, ledger, peers, budgets, clock, log, onUnrecorded, descriptorLimit } = parts;
    this.#parts = parts;
    this.#settings = settings;
    this.#forwarder = createForwarder(clock, settings.config.outbound);
    this.#books = {
      ledger,
      batch: new RecordBatch(ledger),
      running: new RunningExchanges(clock, ledger),
      clock,
    };
    this.#connections = new Connections(maxConnections(descriptorLimit));
    this.models = new ModelLists(keyring, clock);
    this.#refusals = new RefusalSummary(clock, log);
    this.checkPass = new CheckPass(clock);
    this.#refuser = new Refuser({
      clock,
      log,
      summary: this.#refusals,
      checkPass: this.checkPass,
      onUnrecorded,
    });
    this.#buffer = new SharedBuffer(settings.config.limits.bufferBytes);
    this.#brakes = new Brakes(clock);
    this.#sender = new Sender({
      forwarder: this.#forwarder,
      keyring,
      peers,
      books: this.#books,
      buffer: this.#buffer,
      refusals: this.#refusals,
      refuser: this.#refuser,
      failures: this.failures,
      budgets,
      brakes: this.#brakes,
      clock,
      log,
    });
    this.#allowUsers(settings);
  }

  /** Takes a new connection, before any request of it. */
  accept(socket: Socket, isOnUnixSocket: boolean): void {
    this.#connections.open(socket);
    if (isOnUnixSocket) this.#parts.peers.admitOnUnixSocket(socket);
    else void this.#inspect(socket);
    if (this.#draining) this.release(socket);
    else this.#forwarder.preconnect(this.#settings.destinations[0].upstream.origin);
  }

  /** Closes a connection once the response that is under way on it has been sent. */
  release(socket: Socket): void {
    this.#endRecorded();
    void this.#connections.release(socket);
  }

  /**
   * Handles one request. `expectsContinue`: the client waits for `100 Continue` before it sends its body. Never rejects:
   * whatever a step throws becomes a refusal.
   */
  async handle(req: IncomingMessage, res: ServerResponse, expectsContinue: boolean): Promise<void> {
    const settings = this.#settings;
    let client: ClientIdentity | null = null;
    let exchange: ExchangeRecorder | null = null;
    try {
      // 1. Admit.
      const headers = new HeaderIndex(req.rawHeaders);
      const peer = this.#admit(req, res, headers, settings);

      // 2. Resolve.
      const request = resolveRoute(req, headers, settings);
      if (!mayAsk(peer, request)) throw new RefusalError(METRICS_ONLY);
      if (request.kind === "local") {
        this.#parts.local[request.route](req, res, peer, request);
        return;
      }
      if (request.kind === "browser") throw new RefusalError(request.refusal);

      // 3. Identify.
      const { tokens, signatures, connectable } = this.#parts;
      const tokenRule = findTokenRule(headers, settings);
      const evidence = { mark: request.mark, headers, peer, tokenRule, signatures, connectable };
      client = new ClientIdentity(evidence, tokens);
      const paused = this.#parts.pauses.judge(client.tool, settings.config);
      if (paused !== null) throw new RefusalError(client.refusal ?? paused);

      // 4. Choose the upstream, by the model where that decides. A request with an upstream leaves one record, however it ends.
      if (request.kind === "refusal") throw new RefusalError(client.refusal ?? request.refusal);
      const { route } = request.match;
      const destinations = settings.destinationsFor(client.tool);
      const policy = settings.policyFor === null ? null : settings.policyFor(client.tool);
      if (isOwnList(route, destinations, policy)) {
        await this.models.respond(res, { client, headers, destinations, policy, settings }, request.query);
        return;
      }
      const aliases = namesModel(route) ? settings.aliasesFor(client.tool) : null;
      const isJudged = policy?.models != null && mustNameModel(route);
      const atOnce =
        aliases === null && !isJudged ? chooseUpstream(request, destinations, settings, null) : null;
      if (atOnce !== null && "code" in atOnce) throw new RefusalError(client.refusal ?? atOnce);
      let chosen: Chosen | null;
      const isSized = isBudgeted(policy, route) || comparesBodies(policy, route);
      if (atOnce !== null && !isSized) chosen = chosenAtOnce(atOnce);
      else {
        const asked = { request, headers, client, expectsContinue };
        const rules = { destinations, aliases, policy, settings };
        const means = { buffer: this.#buffer, brakes: this.#brakes, clock: this.#parts.clock };
        const undecided = { ...asked, ...rules, ...means };
        chosen =
          atOnce === null ? await chooseByModel(req, res, undecided) : await sizeUp(req, atOnce, undecided);
      }
      if (chosen === null) return;

      // 5. Permit. Nothing waits between this and the exchange, with whose record the hold ends.
      const outgoing: ChosenRequest = { req, res, headers, client, chosen, policy, settings };
      if (isBudgeted(policy, route)) await this.#parts.budgets.counting;
      const { refusal, hold, choice, fallback } = this.#sender.permit(outgoing, request);
      exchange = this.#sender.openExchange(outgoing, choice, hold, null);
      if (refusal !== null) throw new RefusalError(refusal);

      // 6. Check the body's length.
      const announcedBytes = checkLength(headers, settings);

      // 7. Get the key. After the last wait, see whether the client is still there; the round trip notices from then on.
      const cached = this.#parts.keyring.cached(choice.key);
      const secret =
        cached ?? (await readAhead(req, announcedBytes, this.#buffer, this.#sender.readKey(choice.key)));
      if ((cached === null && (await this.#parts.peers.hasLeft(req.socket))) || req.socket.destroyed) {
        exchange.recordUnanswered("cut", null, "client");
        return;
      }

      // 8. Forward.
      if (expectsContinue && chosen.guard === null) res.writeContinue();
      this.#sender.send(outgoing, exchange, secret, announcedBytes, fallback);
    } catch (error) {
      this.#refuser.refuse(req, res, error, client?.tool ?? null, exchange);
    }
  }

  /** Takes effect for the next request and the next connection. Running requests keep the settings they started with. */
  use(settings: Settings): void {
    this.#settings = settings;
    this.#sender.resetCircuits();
    this.#allowUsers(settings);
    this.#forwarder.setOutbound(settings.config.outbound);
    this.#buffer.setLimit(settings.config.limits.bufferBytes);
  }

  /** Does work in advance that would otherwise slow down the first request. Call it when nothing waits for it. */
  prepare(): void {
    this.#forwarder.prepare(this.#settings.destinations[0].upstream.origin);
  }

  get settings(): Settings {
    return this.#settings;
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
    this.#forwarder.close();
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

  #admit(req: IncomingMessage, res: ServerResponse, headers: HeaderIndex, settings: Settings): Peer {
    const { socket, method = "", httpVersion } = req;
    const localPort = socket.localPort ?? this.#portless(socket);
    // First, because a refused request also occupies its connection until its response has been sent.
    const isFree = this.#connections.occupy(socket, res);
    const refusal = admit({ method, httpVersion, headers, localPort }, settings.rules);
    if (refusal !== null) throw new RefusalError(refusal);
    if (!isFree) throw new RefusalError(PIPELINED);
    const peer = this.#parts.peers.admitted(socket);
    if (peer === null) throw new RefusalError(OTHER_USER);
    return peer;
  }
}
