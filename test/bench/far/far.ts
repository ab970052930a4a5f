import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { writeCertificate, type Certificate } from "../../helpers/upstream/certificate.ts";
import { launchDaemon } from "../../helpers/daemon/daemon.ts";
import type { Site } from "../site.ts";
import { medianRatio, summarise, type Summary } from "../statistics.ts";
import { auditLedger, configure } from "../targets/tollkeeper.ts";
import { Worker } from "../worker.ts";
import { timeFirstByte } from "./first-byte.ts";

/** The paths to a far upstream, in the order of measurement. */
const PATHS = ["direct", "cold", "warm", "idle"] as const;
type RemotePath = (typeof PATHS)[number];

/** One path: milliseconds to the first byte, and the ratio to `direct`. */
export interface PathResult extends Summary {
  path: RemotePath;
  rounds: number[];
  ratioToDirect: number;
}

export interface FarResult {
  paths: PathResult[];
  faults: string[];
}

/** An upstream over TLS with a round trip of 40 ms. */
interface FarUpstream {
  port: number;
  certificate: Certificate;
  /** Closes its connections and resolves when they are gone. */
  closeConnections(): Promise<unknown>;
}

/** Measures a tool's first request to a far upstream, directly and through tollkeeper. */
export async function measureFar(
  site: Site,
  rounds: number,
  onProgress: (what: string) => void,
): Promise<FarResult> {
  const upstream = await openUpstream(site);
  const found: Record<RemotePath, number[]> = { direct: [], cold: [], warm: [], idle: [] };
  const faults: string[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    onProgress(`round ${round} of ${rounds}: tls`);
    const times = await measureRound(site, upstream, faults);
    for (const path of PATHS) found[path].push(times[path]);
  }
  const paths = PATHS.map((path) => ({
    path,
    ...summarise(found[path]),
    rounds: found[path],
    ratioToDirect: medianRatio(found[path], found.direct),
  }));
  return { paths, faults };
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
    closeConnections() {
      worker.send("hang up");
      return worker.next();
    },
  };
}

/** Measures one daemon: newly started, with a pooled connection, and after the upstream has closed that. */
async function measureRound(
  site: Site,
  upstream: FarUpstream,
  faults: string[],
): Promise<Record<RemotePath, number>> {
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
  await upstream.closeConnections();
  const idle = await timeFirstByte(port, null);
  faults.push(...(await auditLedger((await status()).ledger.directory, 3)).map((fault) => `tls: ${fault}`));
  await kill();
  return { direct, cold, warm, idle };
}
