import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { writeCertificate, type Certificate } from "../../helpers/upstream/certificate.ts";
import { launchDaemon } from "../../helpers/daemon/daemon.ts";
import type { Site } from "../site.ts";
import { medianRatio, summarise, type Summary } from "../statistics.ts";
import { auditLedger, configure } from "../targets/tollkeeper.ts";
import { Worker } from "../worker.ts";
import { timeFirstByte } from "./first-byte.ts";

/** The ways to a far upstream, in the order in which they are measured. */
const WAYS = ["direct", "cold", "warm", "idle"] as const;
type Way = (typeof WAYS)[number];

/** One way: milliseconds to the first byte, and as times that of `direct`. */
export interface WayResult extends Summary {
  way: Way;
  rounds: number[];
  ratioToDirect: number;
}

export interface FarResult {
  ways: WayResult[];
  faults: string[];
}

/** An upstream over TLS, a round trip of 40 ms away. */
interface FarUpstream {
  port: number;
  certificate: Certificate;
  /** Has it end its connections; resolves when they are gone. */
  hangUp(): Promise<unknown>;
}

/** Measures what a tool's first request takes to a far upstream, without tollkeeper and through it. */
export async function measureFar(
  site: Site,
  rounds: number,
  onProgress: (what: string) => void,
): Promise<FarResult> {
  const upstream = await openUpstream(site);
  const found: Record<Way, number[]> = { direct: [], cold: [], warm: [], idle: [] };
  const faults: string[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    onProgress(`round ${round} of ${rounds}: tls`);
    const times = await measureRound(site, upstream, faults);
    for (const way of WAYS) found[way].push(times[way]);
  }
  const ways = WAYS.map((way) => ({
    way,
    ...summarise(found[way]),
    rounds: found[way],
    ratioToDirect: medianRatio(found[way], found.direct),
  }));
  return { ways, faults };
}

async function openUpstream({ cleanup, directory }: Site): Promise<FarUpstream> {
  const certificate = writeCertificate(directory, "IP:127.0.0.1");
  const worker = new Worker("far/far-upstream.ts");
  cleanup.after(() => worker.stop());
  worker.send({ key: certificate.key, cert: certificate.cert });
  const port = (await worker.next()) as number;
  return {
    port,
    certificate,
    hangUp() {
      worker.send("hang up");
      return worker.next();
    },
  };
}

/** One daemon's life: just started; with a connection in its pool; after the upstream has closed that. */
async function measureRound(
  site: Site,
  upstream: FarUpstream,
  faults: string[],
): Promise<Record<Way, number>> {
  const direct = await timeFirstByte(upstream.port, upstream.certificate.cert);
  const home = mkdtempSync(join(site.directory, "far-"));
  const { ready, kill } = launchDaemon(home, {
    config: configure(home, `https://127.0.0.1:${upstream.port}/v1`),
    env: { NODE_EXTRA_CA_CERTS: upstream.certificate.file },
    launcher: site.placement.launcher,
  });
  site.cleanup.after(kill);
  const { port, status } = await ready;
  const cold = await timeFirstByte(port, null);
  const warm = await timeFirstByte(port, null);
  await upstream.hangUp();
  const idle = await timeFirstByte(port, null);
  faults.push(...(await auditLedger((await status()).ledger.directory, 3)).map((fault) => `tls: ${fault}`));
  await kill();
  return { direct, cold, warm, idle };
}
