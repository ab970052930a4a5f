import type { Upstream } from "../core/config/config.ts";
import type { Outbound } from "../core/config/outbound.ts";
import { messageOf } from "../core/failure.ts";
import { INERT_HEADERS } from "../core/http/header-policy.ts";
import { servesApi, servesOnlyGoogle, type Api } from "../core/http/api.ts";
import {
  readClientVersion,
  readCodexList,
  readGoogleList,
  readModelList,
  readPageRequest,
  writeBareList,
  writeModelList,
  type ListedModel,
} from "../core/http/model-list.ts";
import { GOOGLE_LIST } from "../core/http/routes.ts";
import { listRoutes } from "../core/http/built-in-routes.ts";
import { mergeModels, type UpstreamModels } from "../core/policy/merge-models.ts";
import { allowsModel } from "../core/policy/tool-policy.ts";
import { identifyKey } from "../core/secrets/key-source.ts";
import type { Clock } from "../ports.ts";
import type { OwnList } from "../core/decide/decision.ts";
import type { ClientRequest } from "./exchange/exchange.ts";
import type { Keyring } from "./keyring.ts";
import type { Destination, KeyDestination } from "../core/decide/settings.ts";
import { createDialer } from "./upstream/dial.ts";
import { requestModels } from "./upstream/request-models.ts";

/** How long a client waits for upstreams that have not answered yet. Claude Code gives up after 3 s (docs/wire.md section 4). */
const WAIT_MS = 2_500;

/** How long an upstream may take, so that the next client has its list. */
const LIMIT_MS = 30_000;

/** A list that is older is asked for again, behind the response that still uses it. */
const FRESH_MS = 60_000;

/** Anthropic's list has pages of 20, or of 1000 at most (https://docs.anthropic.com/en/api/models-list). Others may refuse the parameter. */
const ALL_PAGES = "?limit=1000";

/** The most that Google's list has on a page (https://ai.google.dev/api/models). */
const GOOGLES_PAGE = "?pageSize=1000";

/** How many lists are kept for versions of Codex. Clients name these. */
const MAX_CODEX_LISTS = 64;

/** What is known of an upstream's list. */
interface Entry {
  models: readonly ListedModel[] | null;
  /** True for a list of Codex's own shape. */
  isCodex: boolean;
  /** With it Codex tells whether its list is the current one. */
  etag: string | null;
  /** By the monotonic clock. */
  readAt: number;
  /** Why the latest request failed; null when it did not. */
  problem: string | null;
  pending: Promise<void> | null;
}

const NOT_ASKED = { models: null, isCodex: false };

/** Responds to `GET /models` with what the tool may request of the lists of its upstreams, merged. Keeps each list for a minute. */
export class ModelLists {
  readonly #keyring: Keyring;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  /** By the upstream's and the version's name, the oldest first. */
  readonly #codexEntries = new Map<string, Entry>();

  constructor(keyring: Keyring, clock: Clock) {
    this.#keyring = keyring;
    this.#clock = clock;
  }

  /**
   * Sends the list in the shape that the client's API has. Names the upstreams that are missing in a header. Leaves no record.
   */
  async respond(
    { res, client, headers, settings }: ClientRequest,
    { request, destinations, policy }: OwnList,
  ): Promise<void> {
    // Only clients of the Messages API send it, and they read pages.
    const isGoogle = request.match.route.path === GOOGLE_LIST;
    const page = headers.has("anthropic-version") && !isGoogle ? readPageRequest(request.query) : null;
    const version = page === null && !isGoogle ? readClientVersion(request.query) : null;
    // One that passes the own keys of tools has no key with which to ask for its list.
    const entries = destinations.map((destination) =>
      destination.account === "key"
        ? this.#refresh(destination, isGoogle, version, settings.config.outbound)
        : null,
    );
    await this.#wait(entries.filter((entry) => entry !== null));
    const codex = entries.find((entry) => entry?.isCodex === true);
    const lists = destinations.map(({ upstream }, index): UpstreamModels => {
      const { models, isCodex } = entries[index] ?? NOT_ASKED;
      return { upstream, models: codex !== undefined && models !== null && !isCodex ? [] : models };
    });
    const missing = lists.flatMap(({ upstream, models }) => (models === null ? [upstream.name] : []));
    const aliases = settings.aliasesFor(client.tool);
    // Judged as a request for it would be: by the one that its alias stands for.
    const isAllowed = ({ id }: ListedModel) => allowsModel(policy, aliases?.get(id) ?? id);
    const merged = (apis?: readonly Api[]) => mergeModels(lists, apis).filter(isAllowed);
    const text = isGoogle
      ? writeBareList(merged(["gemini"]))
      : codex === undefined
        ? writeModelList(merged(), page)
        : writeBareList(merged(["responses"]));
    const body = Buffer.from(text);
    const length = String(body.length);
    const head = ["content-type", "application/json", "content-length", length, ...INERT_HEADERS];
    if (codex?.etag != null) head.push("etag", codex.etag);
    if (missing.length > 0) head.push("x-tollkeeper-missing-upstreams", missing.join(", "));
    res.writeHead(200, head).end(body);
  }

  /** Why the latest list of an upstream could not be read; null when it could, or was not asked for. */
  problemOf(destination: Destination): string | null {
    if (destination.account !== "key") return null;
    const id = identifyList(destination, servesOnlyGoogle(destination.upstream));
    return this.#entries.get(id)?.problem ?? null;
  }

  /** Waits for lists that are not known yet, but not for those that are only old. */
  async #wait(entries: readonly Entry[]): Promise<void> {
    const pending = entries.flatMap(({ models, pending: one }) =>
      models === null && one !== null ? [one] : [],
    );
    if (pending.length === 0) return;
    const stop = new AbortController();
    const tooLate = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, WAIT_MS);
      stop.signal.addEventListener("abort", () => clearTimeout(timer));
    });
    await Promise.race([Promise.all(pending), tooLate]);
    stop.abort();
  }

  /** Returns what is known of a list, and asks for it when that is nothing, or old. `version` is Codex's; null for any other client. */
  #refresh(
    destination: KeyDestination,
    isGoogle: boolean,
    version: string | null,
    outbound: Outbound,
  ): Entry {
    const isForCodex = version !== null && servesApi(destination.upstream, "responses");
    const entries = isForCodex ? this.#codexEntries : this.#entries;
    const id = identifyList(destination, isGoogle) + (isForCodex ? ` ${version}` : "");
    let entry = entries.get(id);
    if (entry === undefined) {
      entry = { models: null, isCodex: false, etag: null, readAt: 0, problem: null, pending: null };
      entries.set(id, entry);
      const [oldest = id] = this.#codexEntries.keys();
      if (this.#codexEntries.size > MAX_CODEX_LISTS) this.#codexEntries.delete(oldest);
    }
    const isFresh = entry.models !== null && this.#clock.monotonic() - entry.readAt < FRESH_MS;
    const query = isForCodex
      ? `?client_version=${encodeURIComponent(version)}`
      : isGoogle
        ? GOOGLES_PAGE
        : hasPages(destination.upstream)
          ? ALL_PAGES
          : "";
    if (!isFresh && entry.pending === null)
      entry.pending = this.#read(entry, destination, { isGoogle, query }, outbound);
    return entry;
  }

  /** Never rejects. A list that cannot be read any more is forgotten: its models would not work either. */
  async #read(
    entry: Entry,
    { upstream, key }: KeyDestination,
    list: { isGoogle: boolean; query: string },
    outbound: Outbound,
  ): Promise<void> {
    try {
      const secret = await this.#keyring.get(key);
      const dial = createDialer(outbound)(upstream.origin);
      const signal = AbortSignal.timeout(LIMIT_MS);
      const { status, text, etag } = await requestModels(upstream, secret, dial, list, signal);
      const readable = status === 200 ? text : "";
      const codex = list.isGoogle ? null : readCodexList(readable);
      const models = codex ?? (list.isGoogle ? readGoogleList : readModelList)(readable);
      entry.models = models;
      entry.isCodex = codex !== null;
      entry.etag = etag;
      entry.problem = models === null ? `GET /models responded with ${status}, and no list of models` : null;
    } catch (error) {
      entry.models = null;
      entry.problem = messageOf(error);
    } finally {
      entry.readAt = this.#clock.monotonic();
      entry.pending = null;
    }
  }
}

/** True for a service that takes its key for the list as Anthropic does. */
function hasPages(upstream: Upstream): boolean {
  return listRoutes(upstream).some(({ path, auth }) => path === "/models" && auth === "x-api-key");
}

function identifyList({ upstream, key }: KeyDestination, isGoogle: boolean): string {
  return `${upstream.baseUrl} ${identifyKey(key)}${isGoogle ? " google" : ""}`;
}
