import { GONE_UID } from "../../ports.ts";
import { NO_INODE, SOCKET_TABLES, spellRows, type Endpoint } from "../socket-table.ts";
import { findSocketRows, type SocketOwner } from "./find-socket-rows.ts";

/** The kernel walks its tables while they change, so that one reading can miss a socket that was there all along. */
const MAX_READINGS = 3;

const NO_OWNER: SocketOwner = { uid: GONE_UID, inode: NO_INODE };

/** The question who owns a client's end of a connection. */
class Lookup {
  /** The client's row in each of the tables, see {@link spellRows}. */
  readonly rows: readonly [string | null, string];
  readonly answer: Promise<SocketOwner | null>;
  /** Its row of a socket that no process holds. Another row of it may be of one that is held. */
  left: SocketOwner | null = null;
  /** How many whole readings did not find it. */
  misses = 0;
  #resolve: (owner: SocketOwner | null) => void = () => {};

  constructor(rows: readonly [string | null, string]) {
    this.rows = rows;
    this.answer = new Promise((resolve) => (this.#resolve = resolve));
  }

  resolve(owner: SocketOwner | null): void {
    this.#resolve(owner);
  }
}

/**
 * Finds the owner of the client's end of a loopback connection on Linux. The kernel walks its table up to the row and
 * formats every row before it: 0.8 ms of CPU with few sockets, 3 ms with 8,000. One reading at a time therefore serves all lookups.
 * One that arrives while it runs is answered by it if its row is read later, and else by the next. What was read before it arrived may be
 * of another user's connection that has ended, whose port the client's has taken.
 */
export class SocketOwners {
  /** Those that are not answered. */
  readonly #open = new Set<Lookup>();
  /** Those that are looked for in what is read now, by their row in its table. */
  readonly #wanted = new Map<string, Lookup[]>();
  /** Those that will be looked for in what is read next. */
  #arrived: Lookup[] = [];
  #isReading = false;

  /** Resolves to null where the kernel shows no tables, as in some sandboxes and containers. */
  ownerOf(client: Endpoint, server: Endpoint): Promise<SocketOwner | null> {
    const lookup = new Lookup(spellRows(client, server));
    this.#open.add(lookup);
    this.#arrived.push(lookup);
    if (!this.#isReading) void this.#readForAll();
    return lookup.answer;
  }

  async #readForAll(): Promise<void> {
    this.#isReading = true;
    while (this.#open.size > 0) {
      const fromStart = [...this.#open];
      const hasTable = await this.#readTables(fromStart);
      for (const lookup of fromStart) if (this.#open.has(lookup)) this.#conclude(lookup, hasTable);
    }
    this.#isReading = false;
  }

  /**
   * Reads the tables that these lookups need, and answers everything that is found there. A lookup that has arrived since may need an
   * earlier table, and does not have to wait for the next. Resolves to false when the kernel shows none.
   */
  async #readTables(lookups: readonly Lookup[]): Promise<boolean> {
    let hasTable = false;
    for (const [i, path] of SOCKET_TABLES.entries()) {
      if (!lookups.some((lookup) => this.#open.has(lookup) && lookup.rows[i] !== null)) continue;
      this.#wanted.clear();
      this.#arrived = [...this.#open];
      const events = {
        onRead: () => this.#wantArrived(i),
        onFound: (row: string, owner: SocketOwner) => this.#take(row, owner),
      };
      if (await findSocketRows(path, this.#wanted, events)) hasTable = true;
    }
    return hasTable;
  }

  #wantArrived(table: number): void {
    for (const lookup of this.#arrived) {
      const row = lookup.rows[table];
      if (typeof row === "string") this.#wanted.set(row, [...(this.#wanted.get(row) ?? []), lookup]);
    }
    this.#arrived = [];
  }

  #take(row: string, owner: SocketOwner): void {
    const lookups = this.#wanted.get(row) ?? [];
    if (owner.uid === GONE_UID) {
      for (const lookup of lookups) lookup.left = owner;
      return;
    }
    this.#wanted.delete(row);
    for (const lookup of lookups) this.#answer(lookup, owner);
  }

  /** Ends a reading that has not answered a lookup which it served from its start. */
  #conclude(lookup: Lookup, hasTable: boolean): void {
    if (!hasTable) return this.#answer(lookup, null);
    if (lookup.left !== null) return this.#answer(lookup, lookup.left);
    lookup.misses += 1;
    if (lookup.misses === MAX_READINGS) this.#answer(lookup, NO_OWNER);
  }

  #answer(lookup: Lookup, owner: SocketOwner | null): void {
    this.#open.delete(lookup);
    lookup.resolve(owner);
  }
}
