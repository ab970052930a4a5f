import type { BusAnswer } from "./bus.ts";
import { SCHEMA, SERVICE } from "./protocol.ts";

/** What the Secret Service says without being asked to open anything; `failed` carries the bus's error text. */
export type Probe =
  | { state: "open" | "locked" | "missing" }
  | { state: "unknown" }
  | { state: "failed"; text: string };

/** One request to the bus; see `callBus`. */
export type Bus = (request: readonly string[]) => Promise<BusAnswer>;

const NAME = "org.freedesktop.secrets";
const PATH = "/org/freedesktop/secrets";
const CALL = ["call", NAME, PATH, "org.freedesktop.Secret.Service"];

/** D-Bus's way to say "no object". */
const NO_OBJECT = "/";

const UNKNOWN: Probe = { state: "unknown" };

/**
 * Is the item of `account` there, and can it be read without a prompt? A provider that hides the items of a locked
 * collection (KeePassXC does) answers "nothing found"; so "missing" is only believed of an open default collection.
 */
export async function probeItem(bus: Bus, account: string): Promise<Probe> {
  const attributes = ["xdg:schema", SCHEMA, "service", SERVICE, "account", account];
  const answer = await bus([...CALL, "SearchItems", "a{ss}", "3", ...attributes]);
  if (answer === null) return UNKNOWN;
  if (!answer.ok) return { state: "failed", text: answer.message };
  // Two lists of object paths: the unlocked items, then the locked ones.
  const [unlocked, locked] = listsOf(answer.data);
  if (unlocked === undefined || locked === undefined) return UNKNOWN;
  if (unlocked.length > 0) return { state: "open" };
  if (locked.length > 0) return { state: "locked" };
  const collection = await probeCollection(bus);
  return collection.state === "locked" ? collection : { state: "missing" };
}

/** Is there a default collection, where new items go, and is it open? */
export async function probeCollection(bus: Bus): Promise<Probe> {
  const alias = await bus([...CALL, "ReadAlias", "s", "default"]);
  if (alias === null) return UNKNOWN;
  if (!alias.ok) return { state: "failed", text: alias.message };
  const [path] = Array.isArray(alias.data) ? alias.data : [];
  if (path === NO_OBJECT) return { state: "missing" };
  if (typeof path !== "string") return UNKNOWN;
  const answer = await bus(["get-property", NAME, path, "org.freedesktop.Secret.Collection", "Locked"]);
  if (answer === null || !answer.ok || typeof answer.data !== "boolean") return UNKNOWN;
  return { state: answer.data ? "locked" : "open" };
}

function listsOf(data: unknown): unknown[][] {
  return Array.isArray(data) ? data.filter((list) => Array.isArray(list)) : [];
}
