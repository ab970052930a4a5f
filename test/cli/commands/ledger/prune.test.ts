import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { addDays } from "../../../../src/core/ledger/calendar.ts";
import { dayAt } from "../../../../src/core/ledger/day.ts";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../../helpers/daemon/program.ts";
import { homeWithLedger } from "../../../helpers/ledger/home-with-ledger.ts";
import { usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { noTerminal, runOnTerminal } from "../../../helpers/process/terminal.ts";

const line = (ts: string) => `${JSON.stringify(usageRecord({ ts }))}\n`;
const LINE_BYTES = line("2026-10-30T00:00:00.000Z").length;

/** A ledger of the last days of October 2026 and the first of November. */
function autumn(t: TestContext) {
  return homeWithLedger(t, {
    "2026-10-30.ndjson": line("2026-10-30T00:00:00.000Z") + line("2026-10-30T01:00:00.000Z"),
    "2026-10-30.torn": "torn\n",
    "2026-10-31.ndjson": `${line("2026-10-31T00:00:00.000Z")}nonsense\n`,
    "2026-11-01.ndjson": line("2026-11-01T00:00:00.000Z"),
    "2026-10-32.ndjson": "not a day",
    "2026-10-30.ndjson.away": "moved away by hand",
    "notes.txt": "notes",
  });
}

test("ledger prune removes the days before one, and only files of the ledger", async (t) => {
  const { command, directory } = autumn(t);
  mkdirSync(join(directory, "under-way"));
  mkdirSync(join(directory, "2026-10-01.ndjson"));
  symlinkSync("notes.txt", join(directory, "2026-10-02.ndjson"));
  const before = readdirSync(directory);
  const { code, stdout } = await command("ledger", "prune", "--before", "2026-11", "--yes");
  assert.match(
    stdout,
    /^Removed 3 records \([\d,]+ bytes\) of 2 days, 2026-10-30 to 2026-10-31\. Reports still have their daily sums\.\n$/,
  );
  assert.equal(code, 0);
  const removed = ["2026-10-30.ndjson", "2026-10-30.torn", "2026-10-31.ndjson"];
  const sums = ["2026-10-30.kept", "2026-10-31.kept"];
  assert.deepEqual(
    readdirSync(directory).sort(),
    [...before.filter((name) => !removed.includes(name)), ...sums].sort(),
  );
  const again = await command("ledger", "prune", "--before", "2026-11", "--yes");
  assert.deepEqual(
    [again.stdout, again.code],
    [`There is nothing to remove before 2026-11-01 in ${directory}.\n`, 0],
  );
});

test("ledger prune without a terminal removes nothing unless told to", async (t) => {
  const { command, directory } = autumn(t);
  const before = readdirSync(directory);
  const { code, stdout, stderr } = await command("ledger", "prune", "--before", "2026-10-31");
  assert.equal(code, 1);
  assert.equal(stdout, "");
  assert.equal(
    stderr,
    [
      `error: nothing was removed: there is no terminal to ask on, and 2 records (${(2 * LINE_BYTES + 5).toLocaleString("en")} bytes) of 2026-10-30 cannot be recovered`,
      "hint: to remove them without being asked, type: tollkeeper ledger prune --before 2026-10-31 --yes",
      "",
    ].join("\n"),
  );
  assert.deepEqual(readdirSync(directory), before);
});

for (const [answer, isRemoved] of [
  ["y", true],
  ["", false],
] as const) {
  test(`ledger prune asks on a terminal: ${JSON.stringify(answer)}`, { skip: noTerminal }, async (t) => {
    const { env, configFile, directory } = autumn(t);
    const words = ["ledger", "prune", "--before", "2026-10-31", "--config", configFile];
    const { text } = await runOnTerminal([process.execPath, PROGRAM, ...words], { env }, [
      ["[y/N]", `${answer}\n`],
    ]);
    assert.match(text, /Remove 2 records .* cannot be recovered\. \[y\/N\]/);
    assert.equal(existsSync(join(directory, "2026-10-30.ndjson")), !isRemoved, text);
  });
}

test("ledger prune keeps today and the newest day, which a daemon may have open, whatever it is told", async (t) => {
  const today = dayAt(Date.now());
  const yesterday = addDays(today, -1);
  const files = { [`${yesterday}.ndjson`]: "", [`${today}.ndjson`]: "" };
  const { command, directory } = homeWithLedger(t, files);
  const { stdout } = await command("ledger", "prune", "--before", "2999", "--yes");
  assert.deepEqual(readdirSync(directory), [`${yesterday}.kept`, `${today}.ndjson`]);
  assert.match(stdout, new RegExp(`^${today} is kept: it is today`));
  const old = autumn(t);
  await old.command("ledger", "prune", "--before", "2026-12", "--yes");
  assert.ok(existsSync(join(old.directory, "2026-11-01.ndjson")));
  assert.ok(!existsSync(join(old.directory, "2026-10-31.ndjson")));
});

test("ledger prune --before takes a number of days to keep, today included, as the reports do", async (t) => {
  const today = dayAt(Date.now());
  const days = [addDays(today, -7), addDays(today, -6), today];
  const { command, directory } = homeWithLedger(
    t,
    Object.fromEntries(days.map((day) => [`${day}.ndjson`, ""])),
  );
  const { code, stderr } = await command("ledger", "prune", "--before", "7d", "--yes");
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    days.map((day) => existsSync(join(directory, `${day}.ndjson`))),
    [false, true, true],
  );
});

test("ledger prune refuses what is not a date", async (t) => {
  const { command } = autumn(t);
  for (const given of [
    [],
    ["--before", "2026-02-30"],
    ["--before", "lately"],
    ["--before", "24h"],
    ["--before", "2026-13"],
  ]) {
    const { code, stderr } = await command("ledger", "prune", "--yes", ...given);
    assert.equal(code, 2, stderr);
    assert.match(stderr, given.length === 0 ? /^error: --before is missing\n/ : /it is not a date\n/);
  }
});

test("ledger prune leaves a running daemon's records alone", async (t) => {
  const daemon = await startDaemon(t);
  const request = async () => {
    const body = JSON.stringify({
      model: "claude-sonnet-5",
      max_tokens: 1,
      messages: [{ role: "user", content: "x" }],
    });
    const headers = { "content-type": "application/json" };
    await (await fetch(`${daemon.url}/v1/messages`, { method: "POST", headers, body })).arrayBuffer();
  };
  await request();
  const { code } = await daemon.command("ledger", "prune", "--before", "2999", "--yes");
  await request();
  assert.equal(code, 0);
  assert.equal((await daemon.ledger()).length, 2);
});

test("ledger prune --sums removes the sums, too, and makes none", async (t) => {
  const { command, directory } = autumn(t);
  await command("ledger", "prune", "--before", "2026-10-31", "--yes");
  assert.ok(existsSync(join(directory, "2026-10-30.kept")));
  writeFileSync(join(directory, "2026-10.month"), "");
  const { stdout } = await command("ledger", "prune", "--before", "2026-11", "--sums", "--yes");
  assert.match(stdout, /^Removed 1 record \([\d,]+ bytes\) of 2 days, 2026-10-30 to 2026-10-31\.\n$/);
  assert.deepEqual(
    readdirSync(directory).filter((name) => /\.(?:rollup|kept|month)$/.test(name)),
    [],
  );
});

const total = (text: string) => /^total .*$/m.exec(text)?.[0];

test("what was pruned is still in reports, which say what they do not know of it", async (t) => {
  const { command } = autumn(t);
  const ask = async (...words: string[]) =>
    (await command("usage", "--since", "2026-10", "--utc", ...words)).stdout;
  const before = await ask();
  assert.doesNotMatch(before, /are deleted/);
  await command("ledger", "prune", "--before", "2026-11", "--yes");
  const after = await ask();
  assert.equal(total(after), total(before));
  assert.match(after, /The records from 2026-10-30 to 2026-10-31 were deleted/);
  assert.match(after, /1 unreadable line of the ledger, the first of which is 2026-10-31\.ndjson:2\./);
  const bySession = await ask("--by", "session");
  assert.match(bySession, /They have no sessions, so these requests are in the row without a name\./);
  for (const [option, nouns] of [
    ["session", "sessions"],
    ["branch", "branches"],
  ] as const) {
    const ofOne = await command("usage", "--since", "2026-10", "--utc", `--${option}=some`);
    const text = `${ofOne.stdout}${ofOne.stderr}`.replaceAll(/\s+/g, " ");
    assert.match(text, new RegExp(`They have no ${nouns}, so these requests are not in the report\\.`));
  }
});
