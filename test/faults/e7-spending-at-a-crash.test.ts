// E7, spending under way at a crash: a request that has been under way for a second is noted beside the ledger, and the next start
// makes a record of the note: cut by the crash, with the usage that was seen, once. Short requests are not noted.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { sendRaw } from "../helpers/client/raw-client.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { post, TEST_KEY, type TestGate } from "../helpers/gate/gate.ts";
import { ManualClock } from "../helpers/gate/memory.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { ledgerScratchDirectory } from "../helpers/ledger/ledger.ts";
import { notesIn } from "../helpers/ledger/notes.ts";
import {
  MESSAGE_EVENTS,
  respondWithMessage,
  SSE,
  startUpstream,
} from "../helpers/upstream/scripted-upstream.ts";
import { editConfig, IN_FORCE } from "../daemon/config-edits.ts";
import { openStream } from "./endings/ending.ts";
import { PHASES } from "./exchange-phases.ts";

const LIMIT = { timeout: 300_000 };

/** Too long for any test. */
const LONG_GRACE = { config: { abort: { graceMs: 60_000 } } };

/** Lets a second pass, and resolves with the note that is then taken. */
async function noteAfterSecond({ ledger }: TestGate, clock: ManualClock): Promise<UsageRecord> {
  assert.deepEqual(ledger.notes, []);
  clock.advance(1000);
  return waitUntil("a note", () => ledger.notes[0] ?? null);
}

for (const { phase, open, record: expected } of PHASES) {
  test(`a request that has lasted a second ${phase} is noted as a crash would cut it`, LIMIT, async (t) => {
    const clock = new ManualClock();
    const { gate, client } = await open(t, { clock, config: { abort: { graceMs: 0 } } });
    const { id, outcome, cut_by, status, usage, tokens } = await noteAfterSecond(gate, clock);
    assert.deepEqual(
      [outcome, cut_by, status, usage, tokens?.input_total ?? null],
      ["cut", "crash", ...expected],
    );
    client.socket.destroy();
    const record = await gate.ledger.only();
    assert.deepEqual([record.id, record.cut_by], [id, "client"]);
  });
}

test("a request that has waited a second for its key is noted", LIMIT, async (t) => {
  const clock = new ManualClock();
  const { gate } = await startGateWithUpstream(t, respondWithMessage, { clock });
  const { started } = gate.keys.hold();
  await sendRaw(t, gate.port);
  await started;
  const { outcome, cut_by, status, usage } = await noteAfterSecond(gate, clock);
  assert.deepEqual([outcome, cut_by, status, usage], ["cut", "crash", null, "absent"]);
});

test("a request whose client has left is noted in the grace period of its upstream", LIMIT, async (t) => {
  const clock = new ManualClock();
  const { gate, client } = await openStream(t, { ...LONG_GRACE, clock });
  client.socket.destroy();
  await client.closed;
  const { cut_by, usage, tokens } = await noteAfterSecond(gate, clock);
  assert.deepEqual([cut_by, usage, tokens?.input_total], ["crash", "partial", 3]);
});

test("a note does not disturb the metering of its response", LIMIT, async (t) => {
  const clock = new ManualClock();
  const { gate, finish } = await openStream(t, { clock });
  await noteAfterSecond(gate, clock);
  finish();
  const { outcome, cut_by, usage, tokens } = await gate.ledger.only();
  assert.deepEqual([outcome, cut_by, usage, tokens?.output], ["completed", null, "final", 2]);
});

test("the key that an upstream echoes does not get into a note", LIMIT, async (t) => {
  const clock = new ManualClock();
  const begin = MESSAGE_EVENTS[0].replace("claude-sonnet-5", TEST_KEY);
  const { gate } = await openStream(t, { clock }, begin);
  const note = await noteAfterSecond(gate, clock);
  assert.equal(note.usage, "partial");
  assert.doesNotMatch(JSON.stringify(note), new RegExp(TEST_KEY));
});

/** An upstream that counts its streams and never ends them. Stream `n` has `n` input tokens. */
async function startEndlessUpstream(t: TestContext) {
  let streams = 0;
  return startUpstream(t, (_seen, res) => {
    streams += 1;
    res.writeHead(200, SSE).write(MESSAGE_EVENTS[0].replace('"input_tokens":3', `"input_tokens":${streams}`));
  });
}

const ledgerOf = ({ home }: Daemon) => join(home, "state", "tollkeeper", "ledger");

/** Opens streams through a daemon. Resolves with their notes once each has one with usage. */
async function openNotedStreams(t: TestContext, daemon: Daemon, directory: string, count: number) {
  const clients = await Promise.all(Array.from({ length: count }, () => sendRaw(t, daemon.port)));
  await Promise.all(clients.map(({ until }) => until(/message_start/)));
  return waitUntil("the notes", () => {
    const notes = [...notesIn(directory).values()];
    return notes.length === count ? notes : null;
  });
}

async function kill(daemon: Daemon): Promise<void> {
  process.kill(daemon.pid, "SIGKILL");
  assert.equal(await daemon.ended, null);
}

const byId = (records: readonly UsageRecord[]) => records.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** Late enough for the usage of a stream to be in its note, on a busy machine too. */
const NOTED_LATE = { ledger: { noteAfterMs: 3_000 } };

test(
  "a daemon killed with twenty streams under way has a record of each after its next start, and no more after another",
  LIMIT,
  async (t) => {
    const upstream = await startEndlessUpstream(t);
    const config = { ...writeKeyFile(t, upstream.baseUrl, "some-key").config, ...NOTED_LATE };
    const killed = await startDaemon(t, { config });
    const directory = ledgerOf(killed);
    const notes = await openNotedStreams(t, killed, directory, 20);
    await kill(killed);

    const env = { XDG_STATE_HOME: join(killed.home, "state") };
    for (const start of ["next", "one after"]) {
      const daemon = await startDaemon(t, { config, env });
      const records = await daemon.ledger();
      assert.deepEqual(byId(records), byId(notes), `the ${start} start`);
      assert.deepEqual(readdirSync(join(directory, "under-way")), []);
      if (start === "next")
        assert.match(daemon.stderr(), /"requests":20,"msg":"recorded the requests that a crash interrupted"/);
      await kill(daemon);
    }
    const counts = notes.map(({ outcome, cut_by, usage, tokens }) => [
      outcome,
      cut_by,
      usage,
      tokens?.input_total,
    ]);
    const expected = Array.from({ length: 20 }, (_, i) => ["cut", "crash", "partial", i + 1]);
    assert.deepEqual(
      counts.toSorted((a, b) => Number(a[3]) - Number(b[3])),
      expected,
    );
    const report = await killed.command("usage", "--json");
    const {
      requests,
      partial,
      input_uncached: input,
    } = (JSON.parse(report.stdout) as { total: Record<string, number> }).total;
    assert.deepEqual({ requests, partial, input }, { requests: 20, partial: 20, input: 210 });
  },
);

test(
  "a daemon that starts beside one that runs leaves its notes alone, and each of its streams has one record",
  LIMIT,
  async (t) => {
    const directory = join(ledgerScratchDirectory(t), "ledger");
    const { upstream, daemon } = await startDaemonWithUpstream(t, respondWithMessage, {
      config: { ledger: { directory, noteAfterMs: 500 } },
    });
    const ends: (() => void)[] = [];
    upstream.respondWith((_seen, res) => {
      res.writeHead(200, SSE).write(MESSAGE_EVENTS[0]);
      ends.push(() => void res.end(MESSAGE_EVENTS.slice(1).join("")));
    });
    const client = await sendRaw(t, daemon.port);
    await waitUntil("a note", () => (notesIn(directory).size === 1 ? true : null));
    const other = await startDaemon(t, { config: { ledger: { directory } } });
    assert.equal(notesIn(directory).size, 1);
    for (const end of ends) end();
    await client.until(/message_stop/);
    assert.equal(await daemon.stop(), 0);
    assert.deepEqual(
      (await other.ledger()).map(({ outcome, usage }) => [outcome, usage]),
      [["completed", "final"]],
    );
    assert.equal(notesIn(directory).size, 0);
  },
);

test(
  "the notes of running streams follow the ledger to another directory, where the next start makes records of them",
  LIMIT,
  async (t) => {
    const upstream = await startEndlessUpstream(t);
    const { config } = writeKeyFile(t, upstream.baseUrl, "some-key");
    const scratch = ledgerScratchDirectory(t);
    const [from, to] = [join(scratch, "from"), join(scratch, "to")];
    const daemon = await startDaemon(t, {
      config: { ...config, ledger: { directory: from, ...NOTED_LATE.ledger } },
    });
    const notes = await openNotedStreams(t, daemon, from, 3);
    editConfig(daemon, { ...config, ledger: { directory: to } });
    await daemon.waitForOutput(IN_FORCE);
    assert.deepEqual([readdirSync(join(from, "under-way")), notesIn(to).size], [[], 3]);
    await kill(daemon);
    const next = await startDaemon(t, { config: { ...config, ledger: { directory: to } } });
    assert.deepEqual(byId(await next.ledger()), byId(notes));
  },
);

test(
  "a daemon killed at once gives nothing back of a budget: seven requests are spent after its next start",
  LIMIT,
  async (t) => {
    let seen = 0;
    const upstream = await startUpstream(t, () => void (seen += 1));
    // Each may have 63 tokens of output, and more than 10 of input.
    const config = {
      ...writeKeyFile(t, upstream.baseUrl, "some-key").config,
      budgets: [{ tokens: 500, per: "month" }],
    };
    const body = { model: "m", max_tokens: 63, messages: [] };
    let daemon = await startDaemon(t, { config });
    const env = { XDG_STATE_HOME: join(daemon.home, "state") };
    for (let round = 1; round <= 3; round += 1) {
      const before = seen;
      const answers = Array.from({ length: 20 }, async () => {
        try {
          return (await post(daemon, "/v1/messages", body)).headers.get("x-tollkeeper-refusal");
        } catch {
          return "cut";
        }
      });
      let refused = 0;
      for (const answer of answers)
        void answer.then((result) => (refused += result === "budget_spent" ? 1 : 0));
      const admitted = round === 1 ? 7 : 0;
      await waitUntil("all to be judged", () => (seen - before + refused === 20 ? true : null));
      assert.deepEqual([seen - before, refused], [admitted, 20 - admitted], `round ${round}`);
      await kill(daemon);
      await Promise.all(answers);
      daemon = await startDaemon(t, { config, env });
    }
    const records = (await daemon.ledger()).filter(({ outcome }) => outcome === "cut");
    assert.deepEqual(
      records.map(({ cut_by, usage, reserved_output }) => [cut_by, usage, reserved_output]),
      Array.from({ length: 7 }, () => ["crash", "absent", 63]),
    );
  },
);

test("short requests leave nothing beside the ledger", LIMIT, async (t) => {
  const { daemon } = await startDaemonWithUpstream(t);
  for (let i = 0; i < 20; i += 1) await (await post(daemon, "/v1/messages", {})).text();
  assert.equal(readdirSync(ledgerOf(daemon)).length, 1);
});
