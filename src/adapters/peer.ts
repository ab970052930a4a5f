import { readFile } from "node:fs/promises";
import { GONE_UID, type PeerInfo } from "../ports.ts";

/** The kernel's tables of TCP sockets; a v6 socket connected to a v4 address stands in the second. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
/** A socket whose process has let go of it, closed but not yet gone, stands in the tables with this inode and as root's. */
const NO_INODE = "0";
/** The kernel walks its tables while they change, so that one reading may miss a socket that was there all along. */
const READINGS = 3;

interface Question {
  /** `remote local` as the client's own row has them, in either spelling. */
  rows: string[];
  /** Readings that have not found it. */
  misses: number;
  answer(uid: number | null): void;
}

/**
 * Asks Linux who is at the other end of a loopback connection. Reading the tables costs the kernel 4 to 20 ms whatever
 * one looks for (facts/platform.md section 9), so questions that come while a reading is under way share the next one.
 * On other systems the answer is always null: it cannot tell.
 */
export function createPeerInfo(): PeerInfo {
  let waiting: Question[] = [];
  let isReading = false;

  async function readForAll(): Promise<void> {
    isReading = true;
    while (waiting.length > 0) {
      const asked = waiting;
      waiting = [];
      const uids = await readUids(new Set(asked.flatMap((question) => question.rows)));
      for (const question of asked) {
        const uid = uids === null ? null : question.rows.map((row) => uids.get(row)).find(isFound);
        question.misses += 1;
        if (uid !== undefined) question.answer(uid);
        else if (question.misses < READINGS) waiting.push(question);
        else question.answer(GONE_UID);
      }
    }
    isReading = false;
  }

  return {
    uidOf(client, server) {
      if (process.platform !== "linux") return Promise.resolve(null);
      return new Promise((answer) => {
        waiting.push({ rows: rowsOf(client, server), misses: 0, answer });
        if (!isReading) void readForAll();
      });
    },
  };
}

/** uid by row for the wanted rows; null when the kernel shows no tables (some sandboxes and containers). */
async function readUids(wanted: Set<string>): Promise<Map<string, number> | null> {
  const tables = await Promise.all(TABLES.map(readTable));
  if (tables.every((table) => table === null)) return null;
  const uids = new Map<string, number>();
  for (const line of tables.flatMap((table) => (table ?? "").split("\n"))) {
    // "  0: 0100007F:A3B4 0100007F:21CF 01 00000000:00000000 00:00000000 00000000  1000        0 12345 ..."
    const [, local, remote, , , , , uid, , inode] = line.trim().split(/\s+/);
    const row = `${local} ${remote}`;
    if (!wanted.has(row)) continue;
    if (inode !== NO_INODE) uids.set(row, Number(uid));
    else if (!uids.has(row)) uids.set(row, GONE_UID);
  }
  return uids;
}

/**
 * null: there is no such table here. Any other fault, such as no free descriptor, is no reason to let everyone in: the
 * table is then as good as empty, and nobody is found in it.
 */
async function readTable(path: string): Promise<string | null> {
  try {
    return await readFile(path, "latin1");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "EACCES" ? null : "";
  }
}

const isFound = (uid: number | undefined): boolean => uid !== undefined;

type Endpoint = { address: string; port: number };

function rowsOf(client: Endpoint, server: Endpoint): string[] {
  const spellings = (endpoint: Endpoint) =>
    hexAddresses(endpoint.address).map((hex) => `${hex}:${hexPort(endpoint.port)}`);
  const [clients, servers] = [spellings(client), spellings(server)];
  return clients.map((from, i) => `${from} ${servers[i] ?? ""}`);
}

/** Loopback addresses as the tables spell them: groups of 32 bits in host byte order (little-endian on all we run on). */
function hexAddresses(address: string): string[] {
  if (address === "::1") return ["00000000000000000000000001000000"];
  const v4 = address.replace(/^::ffff:/, "");
  const hex = v4
    .split(".")
    .map((part) => Number(part).toString(16).padStart(2, "0"))
    .toReversed()
    .join("")
    .toUpperCase();
  return [hex, `0000000000000000FFFF0000${hex}`];
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}
