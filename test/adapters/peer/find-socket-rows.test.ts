import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { findSocketRows, type SocketOwner } from "../../../src/adapters/peer/find-socket-rows.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const HEAD =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     \n";

/** A row as Linux 6 writes it. */
function row(columns: string, uid: number, inode = 4711, number = 0): string {
  const sl = String(number).padStart(4);
  const owner = `${String(uid).padStart(5)}        0 ${inode} 1 0000000000000000 20 4 30 10 -1`;
  return `${`${sl}: ${columns} 01 00000000:00000000 00:00000000 00000000 ${owner}`.padEnd(149)}\n`;
}

/** Client 127.0.0.1, port 0xA3B4, connected to port 0x21CF. */
const WANTED = "0100007F:A3B4 0100007F:21CF";
/** As {@link row} has it for uid 1000. */
const OWNER = { uid: 1000, inode: 4711 };
const OTHER = "0100007F:A3B5 0100007F:21CF";

/** Writes a table of these rows and returns the owners of the `wanted` ones in it. */
async function find(
  t: TestContext,
  rows: string[],
  ...wanted: string[]
): Promise<Record<string, SocketOwner>> {
  const path = join(scratchDirectory(t), "tcp");
  writeFileSync(path, HEAD + rows.join(""));
  const missing = new Set(wanted);
  const owners = new Map<string, SocketOwner>();
  const events = {
    onRead() {},
    onFound(columns: string, owner: SocketOwner) {
      owners.set(columns, owner);
      if (owner.inode !== 0) missing.delete(columns);
    },
  };
  assert.equal(await findSocketRows(path, missing, events), true);
  return Object.fromEntries(owners);
}

test("returns uid and inode from the row of the wanted connection", async (t) => {
  const rows = [row(OTHER, 7, 1), row(WANTED, 1000, 4_294_967_295), row(OTHER, 8, 2)];
  assert.deepEqual(await find(t, rows, WANTED), { [WANTED]: { uid: 1000, inode: 4_294_967_295 } });
});

for (const [what, columns] of [
  ["the row of the connection's other end", "0100007F:21CF 0100007F:A3B4"],
  ["a row whose local address ends with the wanted one", "0A0100007F:A3B4 0100007F:21CF"],
  ["a row with the wanted columns further back", `${OTHER} 01 ${WANTED}`],
  ["the row of a connection to another port", "0100007F:A3B4 0100007F:21D0"],
] as const) {
  test(`does not mistake ${what} for the wanted row`, async (t) => {
    assert.deepEqual(await find(t, [row(columns, 1000)], WANTED), {});
  });
}

test("finds a row wherever a chunk of the table ends", async (t) => {
  const others = Array.from({ length: 120 }, (_, i) => row(OTHER, 7, 1, i));
  for (let at = 50; at < 60; at += 1) {
    const rows = others.with(at, row(WANTED, 1000, 1, at));
    assert.deepEqual(await find(t, rows, WANTED), { [WANTED]: { uid: 1000, inode: 1 } });
  }
});

test("finds rows of a table of thousands, wherever they are", async (t) => {
  const others = Array.from({ length: 3000 }, (_, i) => row(OTHER, 7, 1, i));
  for (const at of [0, 1700, 2100, 2999]) {
    const rows = others.with(at, row(WANTED, 1000, at + 1, at));
    assert.deepEqual(await find(t, rows, WANTED), { [WANTED]: { uid: 1000, inode: at + 1 } });
  }
});

test("finds a row whose number has five digits, which shifts the columns", async (t) => {
  const rows = [row(WANTED, 1000, 1, 12_345)];
  assert.deepEqual(await find(t, rows, WANTED), { [WANTED]: { uid: 1000, inode: 1 } });
});

test("returns no owner for a socket without an inode, unless another row of the connection has one", async (t) => {
  const [left, held] = [row(WANTED, 0, 0), row(WANTED, 1000)];
  assert.deepEqual(await find(t, [left], WANTED), { [WANTED]: { uid: -1, inode: 0 } });
  assert.deepEqual(await find(t, [left, held], WANTED), { [WANTED]: OWNER });
  assert.deepEqual(await find(t, [held, left], WANTED), { [WANTED]: OWNER });
});

test("finds each of several wanted rows and omits missing ones", async (t) => {
  const absent = "0100007F:0001 0100007F:21CF";
  assert.deepEqual(await find(t, [row(WANTED, 1000), row(OTHER, 7)], OTHER, absent, WANTED), {
    [WANTED]: OWNER,
    [OTHER]: { uid: 7, inode: 4711 },
  });
});

test("a row that is wanted once it was read is not found: it may be of an earlier connection", async (t) => {
  const path = join(scratchDirectory(t), "tcp");
  writeFileSync(path, HEAD + row(OTHER, 7) + row(WANTED, 1000));
  const wanted = new Set([OTHER]);
  const found: string[] = [];
  const events = {
    onRead() {
      // As a lookup does that arrives while the read is under way.
      if (found.length > 0) wanted.add(WANTED);
    },
    onFound(columns: string) {
      found.push(columns);
      wanted.delete(columns);
    },
  };
  assert.equal(await findSocketRows(path, wanted, events), true);
  assert.deepEqual(found, [OTHER]);
});

test("returns false for a table that does not exist", async () => {
  assert.equal(
    await findSocketRows("/nonexistent/tcp", new Set([WANTED]), {
      onRead: assert.fail,
      onFound: assert.fail,
    }),
    false,
  );
});
