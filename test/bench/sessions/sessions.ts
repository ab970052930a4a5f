import { loadavg } from "node:os";
import { launchDaemon, type Daemon } from "../../helpers/daemon/daemon.ts";
import { median } from "../../helpers/process/process-metrics.ts";
import { scratchDirectory, type Scope } from "../../helpers/process/scratch-directory.ts";
import { findNode22 } from "../../helpers/tools/tool-packages.ts";
import { writeCertificate, type Certificate } from "../../helpers/upstream/certificate.ts";
import { medianRatio } from "../statistics.ts";
import { configure } from "../targets/tollkeeper.ts";
import { Worker } from "../worker.ts";
import { REAL_KINDS } from "./real-sessions.ts";
import { REPLAYED_KINDS } from "./replayed-sessions.ts";
import { AT_ONCE, FAST_MODEL, type Answered, type ServicePace, TURNS } from "./session-service.ts";

/** Round trips to the service, in milliseconds. */
const ROUND_TRIPS_MS = [0, 20, 100] as const;

/** A replayed session takes 1 to 3 s, a real one 9. */
const REPLAYED_ROUNDS = 3;

/** A kind of session. */
export interface Kind {
  name: string;
  /** Responses that only prepare a WebSocket. */
  warmups: number;
  /** Returns what runs one session at an origin that has `/v1`. Rejects where this machine cannot. */
  open(scope: Scope, certificate: Certificate): Promise<(origin: string) => Promise<void>>;
}

/** One kind of session at one distance. */
export interface SessionResult {
  kind: string;
  roundTripMs: number;
  /** Seconds of each round without tollkeeper. */
  direct: number[];
  through: ThroughResult[];
}

/** The same through one tollkeeper. */
interface ThroughResult {
  /** The version of Node that it runs on. */
  node: string;
  seconds: number[];
  /** Median of each round's own ratio, and of its difference in milliseconds. */
  ratio: number;
  addedMs: number;
}

export interface SessionsResult {
  /** Of the real tools, with a service that has the pace of a fast model. */
  real: SessionResult[];
  /** Of a client in their place, with a service that responds at once. */
  replayed: SessionResult[];
  /** How many processes wanted a processor, as a mean over the last minute of each part. */
  load: number[];
  faults: string[];
}

/** Measures sessions in turn with and without tollkeeper. Tools that cannot be installed are left out. */
export async function measureSessions(
  scope: Scope,
  rounds: number,
  onProgress: (what: string) => void,
): Promise<SessionsResult> {
  const certificate = writeCertificate(scratchDirectory(scope), "IP:127.0.0.1");
  const own = process.version.slice(1);
  const nodes = new Map([[own, process.execPath]]);
  const shared = { scope, certificate, onProgress, faults: [] };
  const real = await measureKinds({ ...shared, kinds: REAL_KINDS, pace: FAST_MODEL, nodes, rounds });
  const load = [loadavg()[0] ?? NaN];
  await findNode22().then(
    (path) => nodes.set(path === process.execPath ? own : "22", path),
    (error: unknown) => onProgress(`left out: Node 22: ${String(error)}`),
  );
  const replayed = await measureKinds({
    ...shared,
    kinds: REPLAYED_KINDS,
    pace: AT_ONCE,
    nodes,
    rounds: rounds * REPLAYED_ROUNDS,
  });
  load.push(loadavg()[0] ?? NaN);
  return { real, replayed, load, faults: shared.faults };
}

interface Measurement {
  scope: Scope;
  certificate: Certificate;
  kinds: readonly Kind[];
  pace: ServicePace;
  /** By version, the programs that tollkeeper runs on. */
  nodes: ReadonlyMap<string, string>;
  rounds: number;
  faults: string[];
  onProgress(what: string): void;
}

/** The service at one distance, and each tollkeeper in front of it. */
interface Distance {
  roundTripMs: number;
  /** `https://127.0.0.1:PORT` */
  service: string;
  daemons: Daemon[];
}

async function measureKinds(measurement: Measurement): Promise<SessionResult[]> {
  const { scope, certificate, kinds, nodes, rounds, faults, onProgress } = measurement;
  const worker = new Worker("sessions/session-upstream.ts");
  scope.after(() => worker.stop());
  const distances = await openDistances(measurement, worker);
  const measured: {
    kind: Kind;
    distance: Distance;
    run(origin: string): Promise<number>;
    found: number[][];
  }[] = [];
  for (const kind of kinds) {
    const session = await kind.open(scope, certificate).catch((error: unknown) => {
      onProgress(`left out: ${kind.name}: ${String(error)}`);
      return null;
    });
    if (session === null) continue;
    const run = (origin: string) => timeSession(worker, kind, () => session(origin), faults);
    for (const distance of distances)
      measured.push({ kind, distance, run, found: [[], ...distance.daemons.map(() => [])] });
  }
  // The first round is discarded: a tool's first sessions in a home take longer.
  for (let round = 0; round <= rounds; round += 1)
    for (const { kind, distance, run, found } of measured) {
      onProgress(`round ${round} of ${rounds}: ${kind.name}, ${distance.roundTripMs} ms`);
      const origins = [distance.service, ...distance.daemons.map(({ url }) => url)];
      // Each way is first as often as the others.
      for (let at = 0; at < origins.length; at += 1) {
        const way = (at + round) % origins.length;
        const seconds = await run(origins[way] ?? "");
        if (round > 0) found[way]?.push(seconds);
      }
    }
  const responses = measured
    .filter(({ distance }) => distance === distances[0])
    .reduce((sum, { kind }) => sum + (rounds + 1) * (TURNS + kind.warmups), 0);
  for (const { daemons } of distances) for (const daemon of daemons) await audit(daemon, responses, faults);
  return measured.map(({ kind, distance: { roundTripMs }, found: [direct = [], ...others] }) => ({
    kind: kind.name,
    roundTripMs,
    direct,
    through: [...nodes.keys()].map((node, at) => compare(node, others[at] ?? [], direct)),
  }));
}

function compare(node: string, seconds: number[], direct: readonly number[]): ThroughResult {
  const added = seconds.map((one, round) => 1_000 * (one - (direct[round] ?? NaN)));
  return { node, seconds, ratio: medianRatio(seconds, direct), addedMs: median(added) };
}

async function openDistances(
  { scope, certificate: { key, cert, file }, pace, nodes }: Measurement,
  worker: Worker,
): Promise<Distance[]> {
  worker.send({ key, cert, pace: { ...pace }, roundTripsMs: ROUND_TRIPS_MS });
  const ports = (await worker.next()) as number[];
  const distances: Distance[] = [];
  for (const [at, roundTripMs] of ROUND_TRIPS_MS.entries()) {
    const service = `https://127.0.0.1:${ports[at]}`;
    const daemons: Daemon[] = [];
    for (const node of nodes.values()) {
      const home = scratchDirectory(scope);
      const { upstreams } = configure(home, `${service}/v1`) as { upstreams: { default: object } };
      const { ready, kill } = launchDaemon(home, {
        config: { upstreams: { default: { ...upstreams.default, websocket: "auto" } } },
        env: { NODE_EXTRA_CA_CERTS: file },
        // The first word of the command is the Node of this process.
        launcher: ["/bin/sh", "-c", 'node=$1; shift 2; exec "$node" "$@"', "sh", node],
      });
      scope.after(kill);
      daemons.push(await ready);
    }
    distances.push({ roundTripMs, service, daemons });
  }
  return distances;
}

/** Runs a session. Returns its seconds, and notes what was wrong with it. */
async function timeSession(
  worker: Worker,
  { name, warmups }: Kind,
  run: () => Promise<void>,
  faults: string[],
): Promise<number> {
  const from = performance.now();
  await run().catch((error: unknown) => faults.push(`${name}: ${String(error)}`));
  const seconds = (performance.now() - from) / 1_000;
  worker.send("answered");
  const answered = (await worker.next()) as Answered;
  if (answered.responses !== TURNS || answered.warmups !== warmups || answered.unknown.length > 0)
    faults.push(`${name}: the service has answered ${JSON.stringify(answered)}`);
  return seconds;
}

/** Notes if a tollkeeper has not one record for each response. */
async function audit(daemon: Daemon, responses: number, faults: string[]): Promise<void> {
  const records = await daemon.ledger();
  const right = records.filter(({ outcome, usage }) => outcome === "completed" && usage === "final");
  if (right.length !== responses)
    faults.push(
      `sessions: ${right.length} of ${records.length} records are right, of ${responses} responses`,
    );
}
