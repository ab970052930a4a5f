import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openLedger, readLedgerAfter, type LedgerOptions } from "../../../src/adapters/ledger-file.ts";
import { LedgerFollower } from "../../../src/daemon/ledger-follower.ts";
import { RecordFeed } from "../../../src/daemon/record-feed.ts";
import { startLedger, TODAY } from "../../helpers/ledger/ledger.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

/** A ledger, and what follows it; `read` reads its records as a thread would. */
function start(t: Parameters<typeof startLedger>[0]) {
  const { ledger: file, directory, clock, log, closeDays } = startLedger(t);
  const feed = new RecordFeed();
  const ledger = feed.publishing(file);
  const follower = new LedgerFollower({ feed, ledger, onRecord: () => {} });
  const idsUntil = async ({ cursor }: Pick<ReturnType<typeof ledger.mark>, "cursor">) => {
    const ids: string[] = [];
    for await (const { records } of readLedgerAfter(directory, { days: {}, since: null }, cursor))
      ids.push(...records.map(({ id }) => id));
    return ids;
  };
  const another = (): ReturnType<typeof openLedger> => {
    const options: LedgerOptions = { directory, retainDays: 400, clock, log, onNewDay: () => {} };
    const opened = openLedger(options);
    t.after(() => opened.close());
    return opened;
  };
  return { ledger, follower, directory, clock, idsUntil, another, closeDays };
}

test("what is appended while the ledger is summed up is told apart to the byte, whatever its times say", async (t) => {
  const { ledger, follower, idsUntil } = start(t);
  const append = (id: string) =>
    ledger.append([usageRecord({ id, ts: `${TODAY}T00:00:00.000Z`, duration_ms: 1 })]);
  append("before");
  const { sums, since } = await follower.sumUp(async (place) => {
    append("meanwhile");
    const ids = await idsUntil(place);
    append("later");
    return ids;
  });
  assert.deepEqual([sums, since.map(({ id }) => id)], [["before"], ["meanwhile", "later"]]);
  append("own");
  assert.equal(follower.hasMissed(TODAY), false);
});

test("records that wait for the disk are in no file, and are added once", async (t) => {
  const { ledger, follower, directory, clock, idsUntil } = start(t);
  ledger.append([usageRecord({ id: "written" })]);
  const [path, away] = [join(directory, `${TODAY}.ndjson`), join(directory, "away")];
  fs.renameSync(path, away);
  fs.symlinkSync("elsewhere", path);
  clock.advance(2_000);
  ledger.append([usageRecord({ id: "waiting" })]);
  assert.equal(ledger.health().waiting, 1);
  fs.rmSync(path);
  fs.renameSync(away, path);
  const { sums, since } = await follower.sumUp(async (place) => {
    clock.advance(2_000);
    ledger.append([usageRecord({ id: "after" })]);
    assert.equal(ledger.health().waiting, 0);
    return idsUntil(place);
  });
  assert.deepEqual([sums, since.map(({ id }) => id)], [["written"], ["waiting", "after"]]);
});

test("a mark stays where it is when its day is compressed, and then grows", async (t) => {
  const { ledger, clock, idsUntil, closeDays } = start(t);
  const append = (id: string) => ledger.append([usageRecord({ id })]);
  append("one");
  const first = ledger.mark();
  append("two");
  const second = ledger.mark();
  clock.advance(3 * 86_400_000);
  ledger.append([usageRecord({ ts: "2026-11-24T12:00:00.000Z" })]);
  assert.equal((await closeDays()).compressed, 1);
  append("late");
  const third = ledger.mark();
  assert.equal((await closeDays()).compressed, 1);
  const ids = await Promise.all([first, second, third].map(idsUntil));
  assert.deepEqual(
    ids.map((each) => each.filter((id) => !id.startsWith("record-"))),
    [["one"], ["one", "two"], ["one", "two", "late"]],
  );
});

test("what another daemon writes, and a file that was replaced, are missed until the ledger is summed up again", async (t) => {
  const { ledger, follower, directory, another } = start(t);
  const sumUp = () => follower.sumUp(async () => null);
  ledger.append([usageRecord()]);
  await sumUp();
  const other = another();
  assert.equal(follower.hasMissed(TODAY), false);
  other.append([usageRecord()]);
  assert.deepEqual([follower.hasMissed(TODAY), follower.hasMissed("2026-11-22")], [true, false]);
  await sumUp();
  assert.equal(follower.hasMissed(TODAY), false);
  fs.appendFileSync(join(directory, "2026-11-20.ndjson"), "x\n", { mode: 0o600 });
  assert.equal(follower.hasMissed("2026-11-20"), true);
});
