import { JsonSkipper } from "../usage/json/json-skipper.ts";
import { withoutCollection } from "./gemini/model-path.ts";
import { isSpace } from "../usage/bytes.ts";
import { isObject, parseJson } from "../json.ts";

/** A model as an upstream lists it. */
export interface ListedModel {
  id: string;
  /** Its JSON, as it came. */
  json: string;
}

/** As Codex names it, and no longer. */
const CLIENT_VERSION = /^[\w.+-]{1,40}$/;

const QUOTE = 0x22;
const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;

/**
 * Reads the list of a `GET /models`, `{"data": [...]}` in both APIs, and keeps each entry as it came. Entries without an id are
 * left out. Returns null for anything else.
 */
export function readModelList(text: string): ListedModel[] | null {
  return readEntries(text, "data", "id");
}

/** Reads the list that Codex gets, `{"models": [...]}`, as {@link readModelList} does. The id of an entry is its `slug` (docs/wire.md section 4). */
export function readCodexList(text: string): ListedModel[] | null {
  return readEntries(text, "models", "slug");
}

/** Reads Google's list, `{"models": [...]}`, as {@link readModelList} does. The id of an entry is its `name` without `models/`. */
export function readGoogleList(text: string): ListedModel[] | null {
  const entries = readEntries(text, "models", "name");
  return entries?.map(({ id, json }) => ({ id: withoutCollection(id), json })) ?? null;
}

function readEntries(text: string, list: string, id: string): ListedModel[] | null {
  const body = parseJson(text);
  const values = isObject(body) ? body[list] : undefined;
  if (!Array.isArray(values)) return null;
  // JSON.parse keeps the last of two members.
  const bytes = Buffer.from(text);
  const start = memberOffsets(bytes, list).at(-1);
  const entries = start === undefined ? [] : itemsAt(bytes, start);
  return values.flatMap((entry: unknown, index) => {
    const named = isObject(entry) ? entry[id] : undefined;
    const json = entries[index];
    return typeof named === "string" && json !== undefined ? [{ id: named, json }] : [];
  });
}

/** Returns the version of itself that Codex sends with `GET /models`, for which it gets a list of its own; null for any other query. */
export function readClientVersion(query: string): string | null {
  const version = new URLSearchParams(query).get("client_version") ?? "";
  return CLIENT_VERSION.test(version) ? version : null;
}

/** Offsets of the values that the object in valid JSON has under a name. */
function memberOffsets(bytes: Buffer, name: string): number[] {
  const found: number[] = [];
  let at = skipSpace(bytes, bytes.indexOf("{") + 1);
  while (bytes[at] === QUOTE) {
    const end = endOfValue(bytes, at);
    const value = skipSpace(bytes, skipSpace(bytes, end) + 1);
    if (JSON.parse(bytes.toString("utf8", at, end)) === name) found.push(value);
    at = skipSpace(bytes, endOfValue(bytes, value));
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return found;
}

/** The items of the list that begins at an offset of valid JSON, as they came. */
function itemsAt(bytes: Buffer, start: number): string[] {
  const items: string[] = [];
  let at = skipSpace(bytes, start + 1);
  while (at < bytes.length && bytes[at] !== CLOSE_BRACKET) {
    const end = endOfValue(bytes, at);
    items.push(bytes.toString("utf8", at, end));
    at = skipSpace(bytes, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return items;
}

function endOfValue(bytes: Buffer, at: number): number {
  const skipper = new JsonSkipper();
  skipper.begin(bytes[at] ?? 0);
  const end = skipper.skip(bytes, at + 1);
  return end === -1 ? bytes.length : end;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at] ?? 0)) at += 1;
  return at;
}

/** The page that a client asks for, by Anthropic's parameters (https://docs.anthropic.com/en/api/models-list). */
interface PageRequest {
  limit: number | null;
  afterId: string | null;
  beforeId: string | null;
}

/** Reads the page from a raw query, with its leading `?` or empty. */
export function readPageRequest(query: string): PageRequest {
  const parameters = new URLSearchParams(query);
  const limit = Number(parameters.get("limit") ?? Number.NaN);
  return {
    limit: Number.isInteger(limit) && limit >= 1 ? limit : null,
    afterId: parameters.get("after_id"),
    beforeId: parameters.get("before_id"),
  };
}

/** Writes a list in Codex's shape, which is Google's, too; as one page. */
export function writeBareList(models: readonly ListedModel[]): string {
  return `{"models":[${joinEntries(models)}]}`;
}

/** Writes a list in the shape of the Messages API, or else in OpenAI's, which has no pages. */
export function writeModelList(models: readonly ListedModel[], page: PageRequest | null): string {
  if (page === null) return `{"object":"list","data":[${joinEntries(models)}]}`;
  const { shown, hasMore } = choosePage(models, page);
  const ids = { has_more: hasMore, first_id: shown[0]?.id ?? null, last_id: shown.at(-1)?.id ?? null };
  return `{"data":[${joinEntries(shown)}],${JSON.stringify(ids).slice(1)}`;
}

function choosePage(models: readonly ListedModel[], { limit, afterId, beforeId }: PageRequest) {
  const after = afterId === null ? -1 : models.findIndex(({ id }) => id === afterId);
  const before = beforeId === null ? -1 : models.findIndex(({ id }) => id === beforeId);
  const rest = models.slice(after + 1, before === -1 ? undefined : before);
  const count = limit ?? rest.length;
  // Before an id, the page is the one that ends there.
  const shown = before === -1 ? rest.slice(0, count) : rest.slice(Math.max(0, rest.length - count));
  return { shown, hasMore: shown.length < rest.length };
}

function joinEntries(models: readonly ListedModel[]): string {
  return models.map(({ json }) => json).join(",");
}
