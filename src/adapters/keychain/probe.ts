import type { BusReply } from "./bus.ts";
import { SCHEMA, SERVICE } from "./protocol.ts";

/** What the Secret Service reports without unlocking anything; `failed` has the bus's error text. */
export type Probe =
  | { state: "open" | "locked" | "missing" }
  | { state: "unknown" }
  | { state: "failed"; text: string };

/** Makes one request to the bus; see `callBus`. */
export type Bus = (request: readonly string[]) => Promise<BusReply>;

const NAME = "org.freedesktop.secrets";
const PATH = "/org/freedesktop/secrets";
const CALL = ["call", NAME, PATH, "org.freedesktop.Secret.Service"];

/** D-Bus's object path for "no object". */
const NO_OBJECT = "/";

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
  return collection.state === "locked" ? collection : { state: "missing" };
}

/** Finds out whether there is a default collection, where new items are stored, and whether it is unlocked. */
export async function probeCollection(bus: Bus): Promise<Probe> {
  const alias = await bus([...CALL, "ReadAlias", "s", "default"]);
  if (alias === null) return UNKNOWN;
  if (!alias.ok) return { state: "failed", text: alias.message };
  const [path] = Array.isArray(alias.data) ? alias.data : [];
  if (path === NO_OBJECT) return { state: "missing" };
  if (typeof path !== "string") return UNKNOWN;
  const reply = await bus(["get-property", NAME, path, "org.freedesktop.Secret.Collection", "Locked"]);
  if (reply === null || !reply.ok || typeof reply.data !== "boolean") return UNKNOWN;
  return { state: reply.data ? "locked" : "open" };
}

function listsOf(data: unknown): unknown[][] {
  return Array.isArray(data) ? data.filter((list) => Array.isArray(list)) : [];
}
