import { freePort } from "../helpers/process/free-port.ts";
import type { Clients } from "./clients.ts";
import { CHAOS_LIMITS, type DaemonUnderChaos } from "./daemon-under-chaos.ts";
import { between, chance, createRandom, oneOf, type Random } from "./random.ts";

/** Something that happens to the daemon under load. */
type Disturbance = (daemon: DaemonUnderChaos, random: Random, clients: Clients) => Promise<void>;

/** Together they want many times what may wait for them. */
const CROWD_SIZE = 30;

const BROKEN_CONFIGURATIONS = [
  "",
  "{",
  '{ "listen": { "port": "many" } }',
  '{ "unknown": true }',
  '{ "__proto__": {}, "upstreams": { "default": { "baseUrl": "http://evil.example/v1" } } }',
];

/** 60 kB with 30 000 faults on one line. */
const FLOOD = "x,".repeat(30_000);

/** Disturbances that the daemon survives. */
const DISTURBANCES: Record<string, Disturbance> = {
  reload: async (daemon) => daemon.reload(),

  "other limits": async (daemon, random) => {
    const limits = {
      ...CHAOS_LIMITS,
      bodyBytes: between(random, 1_000_000, 6_000_000),
      bufferBytes: oneOf(random, [0, 1_000_000, 30_000_000]),
      firstByteMs: between(random, 1_500, 3_000),
      betweenBytesMs: between(random, 1_500, 3_000),
    };
    await daemon.configure({ limits, graceMs: oneOf(random, [0, 100, 500]) });
  },

  "invalid configuration": async (daemon, random) => {
    await daemon.breakConfiguration(oneOf(random, BROKEN_CONFIGURATIONS));
    await daemon.configure({});
  },

  "a flood of faults": async (daemon) => {
    await daemon.breakConfiguration(FLOOD);
    await daemon.configure({});
  },

  "a busy neighbour of the configuration": async (daemon) => {
    const stopNeighbour = daemon.startNeighbour();
    try {
      await daemon.configure({ port: await freePort() });
    } finally {
      stopNeighbour();
    }
  },

  "a crowd that does not read": async (_daemon, _random, clients) => clients.crowd(CROWD_SIZE),

  "another port": async (daemon) => daemon.configure({ port: await freePort() }),

  "another key": async (daemon, random) => {
    daemon.changeKey();
    if (chance(random, 0.7)) daemon.reload();
  },

  "no key for a while": async (daemon) => {
    daemon.writeKeyFile("");
    daemon.reload();
    await daemon.configure({ graceMs: 200 });
    daemon.restoreKeyFile();
  },
};

/** Disturbances that end the daemon. */
const RESTARTS: Record<string, Disturbance> = {
  kill: async (daemon) => {
    await daemon.kill();
    await daemon.start();
  },

  stop: async (daemon) => {
    await daemon.stop();
    await daemon.start();
  },
};

const ALL = { ...RESTARTS, ...DISTURBANCES };

/** The names of all disturbances. Each one happens once in the first turns. */
export const DISTURBANCE_NAMES = Object.keys(ALL);

/** After this share of the run the daemon is not restarted, so that its memory over a long time can be checked. */
const LAST_RESTART = 0.4;

/** Causes the next disturbance and resolves when the daemon has handled it. `done` is the completed share of the run. */
export async function disturb(
  daemon: DaemonUnderChaos,
  clients: Clients,
  { seed, turn, done }: { seed: string; turn: number; done: number },
): Promise<void> {
  const random = createRandom(`${seed} disturbance ${turn}`);
  const mayRestart = done < LAST_RESTART && turn % 2 === 0;
  const names = Object.keys(mayRestart ? RESTARTS : DISTURBANCES);
  const name = DISTURBANCE_NAMES[turn] ?? oneOf(random, names);
  await ALL[name]?.(daemon, random, clients);
  daemon.recordDisturbance(name);
}
