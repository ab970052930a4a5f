// A token that lives for 30 seconds, from a command that fails one time in three and hangs one time in ten, for three minutes at 50
// requests a second. The wall clock leaps, and the machine sleeps. No time passes but that of the test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { KeyFailure } from "../../src/core/failure.ts";
import type { KeyRef } from "../../src/core/secrets/key-source.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import type { KeyStore } from "../../src/ports.ts";
import { Keyring } from "../../src/proxy/keyring.ts";
import { between, chance, createRandom, type Random } from "../chaos/random.ts";
import { ManualClock, MemoryLog } from "../helpers/gate/memory.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";

const [LIFE_MS, LIMIT_MS, LENGTH_MS, STEP_MS] = [30_000, 2_000, 180_000, 20];

/** Each with other chances. */
const RUNS = 20;

/** For how long the command is left alone after it has failed. */
const BACK_OFF_MS = 1_000;

const REF: KeyRef = {
  origin: "https://api.example.com",
  name: "default",
  source: { kind: "command", argv: ["token"], ttlMs: LIFE_MS, timeoutMs: LIMIT_MS },
  setArguments: "key set",
};

/** One run of the command. What it prints lives from its start on, also while the machine sleeps. */
interface Call {
  startedAt: number;
  endsAt: number;
  succeeds: boolean;
  settle(): void;
}

class TokenCommand implements KeyStore {
  readonly calls: Call[] = [];
  readonly #clock: ManualClock;
  readonly #random: Random;

  constructor(clock: ManualClock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  async read(): Promise<Secret> {
    const now = this.#clock.tickMs;
    assert.ok(
      this.calls.every(({ endsAt }) => endsAt <= now),
      "the command runs twice at once",
    );
    const { promise, resolve: settle } = withResolvers<void>();
    const [hangs, fails] = [chance(this.#random, 1 / 10), chance(this.#random, 1 / 3)];
    const tookMs = hangs ? LIMIT_MS : STEP_MS * between(this.#random, 1, 15);
    const startedAt = this.#clock.sinceBoot();
    const call = { startedAt, endsAt: now + tookMs, succeeds: !hangs && !fails, settle };
    const number = this.calls.push(call);
    await promise;
    if (call.succeeds) return new Secret(`sentinel-token-${number}`);
    throw new KeyFailure(hangs ? "unresponsive" : "unavailable", "the key command failed", "");
  }

  /** The one whose token this is. */
  callOf(secret: Secret): Call {
    const call = this.calls.find((_, i) => secret.isSameAs(new Secret(`sentinel-token-${i + 1}`)));
    assert.ok(call);
    return call;
  }
}

/** May have the clock leap, or the machine sleep. */
type Leaps = (clock: ManualClock, random: Random) => void;

/** The requests of three minutes, each of which is judged as it ends. */
class Requests {
  readonly clock = new ManualClock();
  readonly log = new MemoryLog();
  readonly command: TokenCommand;
  readonly keyring: Keyring;
  /** Since the first token. */
  refused = 0;
  readonly #waiting: Promise<void>[] = [];

  constructor(random: Random) {
    this.command = new TokenCommand(this.clock, random);
    this.keyring = new Keyring(this.command, this.clock, this.log);
  }

  send(): void {
    const secret = this.keyring.cached(REF);
    if (secret !== null) {
      assert.ok(this.#isValid(this.command.callOf(secret)), "a token was sent that has expired");
      return;
    }
    const latest = this.#ended.findLast((call) => call.succeeds);
    assert.ok(latest === undefined || !this.#isValid(latest), "a request waits although there is a token");
    const at = this.clock.tickMs;
    const ended = this.keyring.get(REF).then(
      (got) => assert.ok(this.command.callOf(got).endsAt >= at),
      () => this.#onRefused(at),
    );
    this.#waiting.push(ended);
  }

  /** Resolves once no request waits. Rejects if one ended that should not have. */
  async end(): Promise<void> {
    await Promise.all(this.#waiting);
  }

  /** No request is refused but for a failure in the last second, or while it waited. */
  #onRefused(at: number): void {
    if (this.#ended.some((call) => call.succeeds)) this.refused += 1;
    const last = this.#ended.at(-1);
    assert.ok(last !== undefined && !last.succeeds && at < last.endsAt + BACK_OFF_MS);
    assert.ok(this.clock.tickMs - at <= LIMIT_MS);
  }

  get #ended(): Call[] {
    return this.command.calls.filter(({ endsAt }) => endsAt <= this.clock.tickMs);
  }

  #isValid({ startedAt }: Call): boolean {
    return this.clock.sinceBoot() < startedAt + LIFE_MS;
  }
}

async function run(seed: string, leaps: Leaps): Promise<Requests> {
  const random = createRandom(seed);
  const requests = new Requests(random);
  const { clock, command, keyring, log } = requests;
  // The last run of the command ends after the last request.
  for (; clock.tickMs <= LENGTH_MS + LIMIT_MS; clock.advance(STEP_MS)) {
    leaps(clock, random);
    for (const call of command.calls) if (call.endsAt === clock.tickMs) call.settle();
    await setImmediate();
    if (clock.tickMs < LENGTH_MS) requests.send();
    await setImmediate();
  }
  await requests.end();
  assert.doesNotMatch(`${log.lines.join("\n")} ${JSON.stringify(keyring.states())}`, /sentinel/);
  return requests;
}

const HOUR_MS = 3_600_000;

/** What happens once in so many steps, and which part of the requests may be refused: some three times what was measured. */
const LEAPS: [what: string, Leaps, mayBeRefused: number][] = [
  ["the clock does not leap", () => {}, 0.01],
  [
    "the clock leaps both ways",
    (clock, random) => {
      if (chance(random, 1 / 500)) clock.wallMs += between(random, -2 * HOUR_MS, 2 * HOUR_MS);
    },
    0.01,
  ],
  [
    "the machine sleeps",
    (clock, random) => {
      if (chance(random, 1 / 1_000)) clock.sleep(between(random, 2_000, 2 * HOUR_MS));
    },
    0.15,
  ],
  [
    "the clock leaps and the machine sleeps",
    (clock, random) => {
      if (chance(random, 1 / 1_000)) clock.wallMs += between(random, -60_000, 60_000);
      if (chance(random, 1 / 1_000)) clock.sleep(between(random, 2_000, 60_000));
    },
    0.15,
  ],
];

for (const [what, leaps, mayBeRefused] of LEAPS)
  test(`with a token of 30 seconds and a command that fails and hangs, no request fails that need not: ${what}`, async (t) => {
    let [refused, calls] = [0, 0];
    for (let i = 0; i < RUNS; i += 1) {
      const requests = await run(`${what} ${i}`, leaps);
      refused += requests.refused;
      calls += requests.command.calls.length;
    }
    const sent = (RUNS * LENGTH_MS) / STEP_MS;
    t.diagnostic(`${refused} of ${sent} refused, ${calls / RUNS} runs of the command in three minutes`);
    assert.ok(refused < sent * mayBeRefused);
  });
