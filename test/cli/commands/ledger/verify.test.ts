import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { crc32, gzipSync } from "node:zlib";
import { dayAt } from "../../../../src/core/ledger/day.ts";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../../helpers/daemon/program.ts";
import { noTerminal, runOnTerminal } from "../../../helpers/process/terminal.ts";
import { extraTokens, tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { homeWithLedger } from "../../../helpers/ledger/home-with-ledger.ts";

const line = (changes = {}) => `${JSON.stringify({ ...usageRecord(), ...changes })}\n`;

test("ledger verify finds nothing wrong with a ledger that is as it should be, and prints its sums", async (t) => {
  const { command } = homeWithLedger(t, {
    "2026-11-20.ndjson": line({ ts: "2026-11-20T00:00:00.000Z" }),
    "2026-11-21.ndjson":
      line() + line({ upstream: "sandbox" }) + line({ tokens: tokens({ cache_read: 1000 }) }),
    "2026-11-21.torn": "torn\n",
    "notes.txt": "notes",
  });
  const { code, stdout } = await command("ledger", "verify");
  const [first, , place, ...rest] = stdout.split("\n");
  assert.equal(first, "No problems: all 4 lines of 2 days are intact.");
  assert.match(place ?? "", /^ledger {6}~\/.*\/ledger, \d+ KB$/);
  assert.deepEqual(rest, [
    "requests    3 with token counts, and 0 that failed, without the sandbox",
    "input       20 tokens uncached, 1,000 from cache, 0 to cache",
    "output      10 tokens",
    "in no sum   5 bytes in 2026-11-21.torn, of lines that a crash had cut off",
    "",
  ]);
  assert.equal(code, 0);
});

test("ledger verify names each line that is torn, unreadable, impossible or a duplicate, says what to type, and exits with 1", async (t) => {
  const text = `${line({ id: "a" })}${line({ id: "a" })}nonsense\n${line({ bytes_in: -1 })}${line({ extra: [extraTokens({ type: "compaction", model: null, billable: true, output: 3 })] })}{"v":1`;
  const { command, directory } = homeWithLedger(t, { "2026-11-21.ndjson": text });
  const { code, stdout } = await command("ledger", "verify", "--all");
  assert.equal(code, 1);
  assert.deepEqual(stdout.split("\n").slice(0, 8), [
    "3 problems in 6 lines of 1 day. 1 line was cut off.",
    "",
    "line                 problem        what is wrong",
    "2026-11-21.ndjson:2  duplicate      it has the id of line 1",
    "2026-11-21.ndjson:3  unreadable     not JSON",
    "2026-11-21.ndjson:4  contradiction  size from the tool in bytes is -1",
    "2026-11-21.ndjson:6  cut off        it has no end",
    "",
  ]);
  assert.match(
    stdout,
    /^requests +3 with token counts.*\ninput +30 tokens uncached, 0 from cache, 0 to cache\noutput +18 /m,
  );
  assert.match(stdout, /A line without an end .* there is nothing to do/);
  assert.ok(stdout.includes(`sed -n 3p ${join(directory, "2026-11-21.ndjson")}`));
  assert.equal(readFileSync(join(directory, "2026-11-21.ndjson"), "utf8"), text, "nothing is changed");
});

test("ledger verify lists a problem once, with its count and first places", async (t) => {
  const late = (index: number) => line({ id: `late-${index}`, ttft_ms: 20.00049 + index, duration_ms: 1 });
  const { command } = homeWithLedger(t, {
    "2026-11-21.ndjson":
      Array.from({ length: 1200 }, (_, index) => late(index)).join("") + line({ id: "a", bytes_in: -1 }),
  });
  const { code, stdout } = await command("ledger", "verify");
  assert.equal(code, 1);
  assert.deepEqual(stdout.split("\n").slice(0, 8), [
    "1,201 problems in 1,201 lines of 1 day.",
    "",
    "problem        found  what is wrong",
    "contradiction  1,200  time to the first token in ms is 20, more than the duration in ms of 1",
    "  2026-11-21.ndjson:1, 2026-11-21.ndjson:2, 2026-11-21.ndjson:3, 1,197 more: --all",
    "contradiction      1  size from the tool in bytes is -1",
    "  2026-11-21.ndjson:1201",
    "",
  ]);
  assert.match(
    stdout,
    /\nA record with a contradiction is in the sums as it stands\. To compare it .* type:\n {2}sed -n 1p \S+\n/,
  );
  const all = await command("ledger", "verify", "--all");
  assert.match(all.stdout, /^2026-11-21\.ndjson:1000 +contradiction /m);
  assert.match(all.stdout, /^201 more are not listed\.$/m);
});

test(
  "on a terminal, ledger verify has styles, and what a line has cannot control it",
  { skip: noTerminal },
  async (t) => {
    const { home, env } = homeWithLedger(t, {
      "2026-11-21.ndjson": line({ miss: "x", miss_by: "\u001b[2Jevil" }),
    });
    const argv = [process.execPath, PROGRAM, "ledger", "verify"];
    const { text } = await runOnTerminal(argv, { env: { ...env, TERM: "xterm" }, cwd: home }, []);
    assert.ok(text.startsWith("\u001b[31m1 problem in 1 line of 1 day.\u001b[0m"), text);
    assert.ok(!text.includes("\u001b[2J"), text);
    assert.ok(!text.includes("\\u001b[1m"), text);
  },
);

test("ledger verify goes on with the other days where a file cannot be read", async (t) => {
  const { command, directory } = homeWithLedger(t, { "2026-11-21.ndjson": line() });
  mkdirSync(join(directory, "2026-11-19.ndjson"));
  symlinkSync("2026-11-21.ndjson", join(directory, "2026-11-20.ndjson"));
  const { code, stdout } = await command("ledger", "verify");
  assert.equal(code, 1);
  assert.match(stdout, /^unreadable +1 +.*not a regular file\n {2}2026-11-19\.ndjson$/m);
  assert.match(stdout, /^unreadable +1 +.*symbolic link\n {2}2026-11-20\.ndjson$/m);
  assert.match(stdout, /^2 problems in 1 line of 3 days/m);
});

test("ledger verify --json lists the first thousand problems and counts all", async (t) => {
  const { command } = homeWithLedger(t, { "2026-11-21.ndjson": "x\n".repeat(1500) });
  const { code, stdout } = await command("ledger", "verify", "--json");
  const { ok, counts, findings } = JSON.parse(stdout) as {
    ok: boolean;
    counts: unknown;
    findings: unknown[];
  };
  assert.deepEqual([code, ok, findings.length], [1, false, 1000]);
  assert.deepEqual(counts, {
    torn: 0,
    unreadable: 1500,
    impossible: 0,
    duplicate: 0,
    rollup: 0,
    kept_rollup: 0,
  });
  const text = await command("ledger", "verify", "--all");
  assert.match(text.stdout, /^500 more are not listed\.$/m);
});

test("the sums of ledger verify are those of usage over all days", async (t) => {
  const pending = {
    usage: "pending",
    tokens: null,
    spend: "attach_by_response_id",
    outcome: "queued",
    response_id: "r",
  };
  const fetched = {
    route: "/responses/{id}",
    method: "GET",
    spend: "attach_by_response_id",
    response_id: "r",
  };
  const compaction = extraTokens({ type: "compaction", model: null, billable: true, input_uncached: 7 });
  const { command } = homeWithLedger(t, {
    "2026-11-20.ndjson":
      line({ ts: "2026-11-20T00:00:00.000Z", id: "a" }).repeat(2) +
      line({ ts: "2026-11-20T01:00:00.000Z", ...pending }) +
      line({
        ts: "2026-11-20T02:00:00.000Z",
        outcome: "error",
        status: 429,
        usage: "absent",
        tokens: null,
        spend: "never",
      }),
    "2026-11-21.ndjson": line(fetched) + line({ extra: [compaction] }) + line({ upstream: "sandbox" }),
  });
  const verified = await command("ledger", "verify", "--json");
  const { sums } = JSON.parse(verified.stdout) as { sums: Record<string, number> };
  const usage = await command("usage", "--since", "2026-11", "--utc", "--json");
  const { total } = JSON.parse(usage.stdout) as { total: Record<string, number> };
  assert.deepEqual(sums, Object.fromEntries(Object.keys(sums).map((name) => [name, total[name]])));
  assert.deepEqual([sums["requests"], sums["failed"], sums["input_uncached"]], [3, 1, 37]);
});

test("ledger verify has no sums where there is no ledger", async (t) => {
  const { command } = homeWithLedger(t, {});
  const { code, stdout } = await command("ledger", "verify");
  assert.equal(code, 0);
  assert.match(stdout, /^No problems: the ledger has no lines yet\./);
});

test("ledger verify finds nothing wrong while a daemon writes, and sees what it wrote", async (t) => {
  const daemon = await startDaemon(t);
  const end = new AbortController();
  let sent = 0;
  const request = async () => {
    const response = await fetch(`${daemon.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "claude-sonnet-5",
        max_tokens: 1,
        messages: [{ role: "user", content: "x" }],
      }),
    });
    await response.arrayBuffer();
    sent += 1;
  };
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!end.signal.aborted) await request();
    }),
  );
  for (let round = 0; round < 5; round += 1) {
    const before = sent;
    const { code, stdout } = await daemon.command("ledger", "verify", "--json");
    const { ok, lines, findings } = JSON.parse(stdout) as { ok: boolean; lines: number; findings: unknown };
    assert.deepEqual([code, ok, findings], [0, true, []]);
    assert.ok(lines >= before, `${lines} lines of ${before} requests`);
  }
  end.abort();
  await load;
  const { ledger } = await daemon.status();
  appendFileSync(join(ledger.directory, `${dayAt(Date.now())}.ndjson`), '{"v":1');
  const torn = await daemon.command("ledger", "verify", "--all");
  assert.equal(torn.code, 0);
  assert.match(torn.stdout, new RegExp(`:${sent + 1} +cut off `));
  assert.match(torn.stdout, /^No problems in .* 1 line was cut off\.$/m);
});

test("ledger verify compares the sums of a closed day with its records, and finds those that it cannot read", async (t) => {
  const { command, directory } = homeWithLedger(t, {
    "2026-11-18.ndjson": line({ ts: "2026-11-18T10:00:00.000Z" }),
    "2026-11-19.ndjson": line({ ts: "2026-11-19T10:00:00.000Z" }),
    "2026-11-20.ndjson": line({ ts: "2026-11-20T10:00:00.000Z" }),
  });
  await command("usage", "--since", "2026-11", "--utc");
  await command("usage", "--since", "2026-11", "--utc", "--by", "session");
  const pathOf = (name: string) => join(directory, name);
  assert.match((await command("ledger", "verify")).stdout, /^No problems: /);
  writeFileSync(pathOf("2026-11-18.details"), "{}");
  // Other sums with the right checksum, the wrong checksum, and sums of records that have changed since.
  const [header = "", sums = "", times = ""] = readFileSync(pathOf("2026-11-18.rollup"), "utf8").split("\n");
  const changed = sums.replace('"counts":[1,', '"counts":[2,');
  assert.notEqual(changed, sums);
  const crc = { crc: [crc32(changed), crc32(times)] };
  const lines = [JSON.stringify({ ...(JSON.parse(header) as object), ...crc }), changed, times, ""];
  writeFileSync(pathOf("2026-11-18.rollup"), lines.join("\n"));
  writeFileSync(pathOf("2026-11-19.rollup"), "{}");
  appendFileSync(pathOf("2026-11-20.ndjson"), line({ ts: "2026-11-20T11:00:00.000Z" }));
  const { code, stdout } = await command("ledger", "verify", "--all");
  assert.equal(code, 1);
  assert.deepEqual(stdout.split("\n").slice(3, 7), [
    "2026-11-18.details  wrong sums  it cannot be read",
    "2026-11-18.rollup   wrong sums  its sums are not those of the records",
    "2026-11-19.rollup   wrong sums  it cannot be read",
    "",
  ]);
  assert.match(stdout, /\nA file of wrong sums .* type:\n {2}mv (\S+2026-11-18\.details) \1\.wrong\n/);
  renameSync(pathOf("2026-11-18.details"), pathOf("2026-11-18.details.wrong"));
  renameSync(pathOf("2026-11-18.rollup"), pathOf("2026-11-18.rollup.wrong"));
  await command("usage", "--since", "2026-11", "--utc");
  const again = await command("ledger", "verify");
  assert.match(again.stdout, /^No problems: /);
  assert.equal(again.code, 0);
});

test("ledger verify finds nothing wrong with sums that are kept of deleted records, and never says to remove them", async (t) => {
  const { command, directory } = homeWithLedger(t, {
    "2026-01-02.ndjson": line({ ts: "2026-01-02T10:00:00.000Z" }),
    "2026-01-03.ndjson": line({ ts: "2026-01-03T10:00:00.000Z" }),
    "2026-11-20.ndjson": line({ ts: "2026-11-20T10:00:00.000Z" }),
  });
  const pruned = await command("ledger", "prune", "--before", "2026-02", "--yes");
  assert.equal(pruned.code, 0, pruned.stderr);
  // What arrives late is not in the kept sums.
  writeFileSync(join(directory, "2026-01-03.ndjson"), line({ ts: "2026-01-03T11:00:00.000Z" }));
  const intact = await command("ledger", "verify");
  assert.match(
    intact.stdout,
    /^No problems: [^]*\nin no sum +2 days, 2026-01-02 to 2026-01-03, whose records are deleted\. Reports use the sums in their \.kept files, which are the only copy\.\n/,
  );
  assert.equal(intact.code, 0);

  for (const name of ["2026-01-02.kept", "2026-01-03.kept"]) writeFileSync(join(directory, name), "{}");
  const { code, stdout } = await command("ledger", "verify");
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^lost sums +2 +it cannot be read, and the records are deleted\n {2}2026-01-02\.kept, 2026-01-03\.kept$/m,
  );
  assert.match(stdout, /\nA file of lost sums .* from a backup/);
  assert.doesNotMatch(stdout, /\brm /);
});

test("ledger verify knows the only copy of sums, also where somebody else deleted the records", async (t) => {
  const { command, directory } = homeWithLedger(t, {
    "2026-11-19.ndjson": line({ ts: "2026-11-19T10:00:00.000Z" }),
    "2026-11-20.ndjson": line({ ts: "2026-11-20T10:00:00.000Z" }),
  });
  await command("usage", "--since", "2026-11", "--utc");
  rmSync(join(directory, "2026-11-19.ndjson"));
  writeFileSync(join(directory, "2026-11-19.ndjson.gz"), gzipSync(line({ ts: "2026-11-19T11:00:00.000Z" })));
  const { code, stdout } = await command("ledger", "verify");
  assert.equal(code, 0);
  assert.match(
    stdout,
    /\nin no sum +2026-11-19, whose records are deleted\. Reports use the sums in 2026-11-19\.rollup, which is the only copy\.\n/,
  );
  const usage = await command("usage", "--since", "2026-11", "--utc", "--json");
  assert.equal((JSON.parse(usage.stdout) as { total: { requests: number } }).total.requests, 3);
});
