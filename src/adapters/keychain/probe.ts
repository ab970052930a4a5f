import type { BusReply } from "./bus.ts";
import { SCHEMA, SERVICE } from "./protocol.ts";

/**
 * What the Secret Service reports without unlocking anything; `failed` has the bus's error text. `others`: the collections
 * that there are when the default one is missing.
 */
export type Probe =
  | { state: "open" | "locked" }
  | { state: "missing"; others: string[] }
  | { state: "unknown" }
  | { state: "failed"; text: string };

/** Makes one request to the bus; see `callBus`. */
export type Bus = (request: readonly string[]) => Promise<BusReply>;

const NAME = "org.freedesktop.secrets";
const PATH = "/org/freedesktop/secrets";
const CALL = ["call", NAME, PATH, "org.freedesktop.Secret.Service"];

/** D-Bus's object path for "no object". */
const NO_OBJECT = "/";

/** gnome-keyring's collection in memory, which is lost at the end of the session. */
const SESSION = `${PATH}/collection/session`;

const UNKNOWN: Probe = { state: "unknown" };

/**
 * Finds out whether the item of `account` exists and can be read without a prompt. Some providers, such as KeePassXC, hide
 * the items of a locked collection, so the result is only `missing` when the default collection is open.
 */
export async function probeItem(bus: Bus, account: string): Promise<Probe> {
  const attributes = ["xdg:schema", SCHEMA, "service", SERVICE, "account", account];
  const reply = await bus([...CALL, "SearchItems", "a{ss}", "3", ...attributes]);
  if (reply === null) return UNKNOWN;
  if (!reply.ok) return { state: "failed", text: reply.message };
  // Two lists of object paths: the unlocked items, then the locked ones.
  const [unlocked, locked] = listsOf(reply.data);
  if (unlocked === undefined || locked === undefined) return UNKNOWN;
  if (unlocked.length > 0) return { state: "open" };
  if (locked.length > 0) return { state: "locked" };
  const collection = await probeCollection(bus);
  return collection.state === "locked" ? collection : { state: "missing", others: [] };
}

/** Finds out whether there is a default collection, where new items are stored, and whether it is unlocked. */
export async function probeCollection(bus: Bus): Promise<Probe> {
  const alias = await bus([...CALL, "ReadAlias", "s", "default"]);
  if (alias === null) return UNKNOWN;
  if (!alias.ok) return { state: "failed", text: alias.message };
  const [path] = Array.isArray(alias.data) ? alias.data : [];
  if (typeof path !== "string") return UNKNOWN;
  if (path === NO_OBJECT) return missingAmong(await listCollections(bus), path);
  const reply = await bus(["get-property", NAME, path, "org.freedesktop.Secret.Collection", "Locked"]);
  if (reply === null) return UNKNOWN;
  if (!reply.ok)
    return NO_SUCH_OBJECT.test(reply.message) ? missingAmong(await listCollections(bus), path) : UNKNOWN;
  return typeof reply.data === "boolean" ? { state: reply.data ? "locked" : "open" } : UNKNOWN;
}

/** What providers report for an alias of a collection that was removed. */
const NO_SUCH_OBJECT = /does not exist|[Nn]o such object|[Uu]nknown object/;

function missingAmong(collections: readonly string[], missing: string): Probe {
  return { state: "missing", others: collections.filter((path) => path !== missing) };
}

/** Returns the collections in which a key would stay. */
async function listCollections(bus: Bus): Promise<string[]> {
  const reply = await bus(["get-property", NAME, PATH, "org.freedesktop.Secret.Service", "Collections"]);
  const paths: unknown[] = reply?.ok === true && Array.isArray(reply.data) ? reply.data : [];
  return paths.filter((path): path is string => typeof path === "string" && path !== SESSION);
}

/** Returns the command that makes a collection the default one, where new items are put. */
export function setDefaultCommand(path: string): string[] {
  const service = [NAME, PATH, "org.freedesktop.Secret.Service"];
  return ["busctl", "--user", "call", ...service, "SetAlias", "so", "default", path];
}

function listsOf(data: unknown): unknown[][] {
  return Array.isArray(data) ? data.filter((list) => Array.isArray(list)) : [];
}
