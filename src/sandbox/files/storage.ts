import type { JsonObject } from "../../core/json.ts";
import type { BilledTokens } from "../tally.ts";

/** How many objects of a kind are kept. The oldest are forgotten. */
const MAX_OBJECTS = 100;

/** A stored file. */
export interface StoredFile {
  filename: string;
  purpose: string;
  bytes: Buffer;
  /** When it was created. */
  at: Date;
}

/** An upload that is not complete: what its file will be, and its parts by their ids. */
export interface Upload {
  object: JsonObject;
  parts: Map<string, Buffer>;
}

/** A file at Google. */
export interface GoogleFile {
  displayName: string | null;
  mimeType: string;
  bytes: Buffer;
  /** When it was created. */
  at: Date;
}

/** A resumable upload at Google that is not complete. */
export interface GoogleUpload {
  displayName: string | null;
  mimeType: string;
  parts: Buffer[];
}

/** A batch. The first look at it after its creation carries its requests out. */
export interface StoredBatch {
  object: JsonObject;
  /** null once they are carried out. */
  requests: JsonObject[] | null;
  /** A line for each request that is carried out. */
  results: string;
}

/** An interaction at Google, and what is still to be billed of it: null once it is. */
export interface StoredInteraction {
  object: JsonObject;
  unbilled: BilledTokens | null;
}

/** Objects of one kind, each with the name of the key that created it. Other keys do not find it. */
class Collection<Item> {
  readonly #items = new Map<string, { owner: string; item: Item }>();

  keep(id: string, owner: string, item: Item): void {
    this.#items.set(id, { owner, item });
    const [oldest = ""] = this.#items.keys();
    if (this.#items.size > MAX_OBJECTS) this.#items.delete(oldest);
  }

  find(id: string, owner: string): Item | undefined {
    const found = this.#items.get(id);
    return found?.owner === owner ? found.item : undefined;
  }

  /** Returns an owner's, the newest first. */
  list(owner: string): [id: string, item: Item][] {
    const own = [...this.#items].filter(([, kept]) => kept.owner === owner);
    return own.map(([id, { item }]): [string, Item] => [id, item]).toReversed();
  }

  remove(id: string): void {
    this.#items.delete(id);
  }
}

/** What a sandbox stores, in memory. */
export class Storage {
  readonly files = new Collection<StoredFile>();
  readonly uploads = new Collection<Upload>();
  readonly googleFiles = new Collection<GoogleFile>();
  readonly googleUploads = new Collection<GoogleUpload>();
  readonly googleBatches = new Collection<StoredBatch>();
  readonly interactions = new Collection<StoredInteraction>();
  /** Their names. */
  readonly operations = new Collection<string>();
  readonly batches = new Collection<StoredBatch>();
  readonly messageBatches = new Collection<StoredBatch>();
}
