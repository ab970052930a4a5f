import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { createKeySources } from "../../adapters/key-sources.ts";
import { createKeychain } from "../../adapters/keychain.ts";
import {
  cursorAt,
  cursorAtEnd,
  readCheckpoint,
  saveCheckpoint,
  type Checkpoint,
} from "../../adapters/ledger-file.ts";
import type { Sender } from "../../adapters/otlp/encode.ts";
import { ledgerDirectory, otlpCheckpointPath, userName } from "../../adapters/paths.ts";
import { programVersion } from "../../adapters/program.ts";
import type { Config, OtlpConfig } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import type { ExporterStatus } from "../../core/export/exporter-status.ts";
import { describeResource } from "../../core/export/resource.ts";
import { UsageMetrics } from "../../core/metrics/usage-metrics.ts";
import { loadPrices } from "../prices/load-prices.ts";
import { Exporter } from "./exporter.ts";
import { parseExporterState, type ExporterState } from "./exporter-state.ts";
import { readLimits } from "./read-limits.ts";
import { Receiver } from "./receiver.ts";

const SALT_BYTES = 32;

/**
 * Returns the exporter for a configuration. If none has run before, it begins with the requests that arrived at `since` (milliseconds
 * since 1970) or later; with null, with the next record.
 */
export async function openExporter(
  config: Config,
  since: number | null,
  isOver: AbortSignal,
  onStatus: (status: ExporterStatus) => void,
): Promise<Exporter> {
  const otlp = requireOtlp(config);
  const path = otlpCheckpointPath();
  const directory = ledgerDirectory(config);
  const known = readExporterCheckpoint();
  const checkpoint = known ?? firstCheckpoint(directory, since);
  // Before anything is sent: after a kill, the next exporter must not begin at a later record.
  if (known === null) await saveCheckpoint(path, checkpoint);
  const receiver = new Receiver(otlp, config.outbound, createKeySources(createKeychain()));
  const sender = senderOf(otlp, checkpoint.state);
  const prices = await loadPrices(config);
  return new Exporter({
    config: otlp,
    directory,
    path,
    checkpoint,
    sender,
    receiver,
    prices,
    readLimits: () => readLimits(Date.now()),
    onStatus,
    isOver,
  });
}

/** Returns what the last exporter has left; null where none has run. */
export function readExporterCheckpoint(): Checkpoint<ExporterState> | null {
  return readCheckpoint(otlpCheckpointPath(), (value) => parseExporterState(value));
}

/** Throws a Failure where the configuration names no collector. */
export function requireOtlp({ export: { otlp } }: Config): OtlpConfig {
  if (otlp !== null) return otlp;
  throw new Failure(
    "the configuration names no OpenTelemetry collector",
    "name one with: tollkeeper config set export.otlp.endpoint https://HOST:4318",
  );
}

function firstCheckpoint(directory: string, since: number | null): Checkpoint<ExporterState> {
  if (since === null) return { cursor: cursorAtEnd(directory), state: firstState() };
  return { cursor: cursorAt(directory, since), state: firstState(since) };
}

/** Returns the state of an exporter that has sent nothing, and whose sums grow from `startedAt` on, in milliseconds since 1970. */
export function firstState(startedAt = Date.now()): ExporterState {
  return {
    v: 1,
    instance: randomUUID(),
    salt: randomBytes(SALT_BYTES).toString("base64url"),
    startedAt,
    counts: { sent: 0, rejected: 0, skipped: 0, unreadable: 0 },
    metrics: new UsageMetrics().encode(),
  };
}

/** Returns who sends, as the configuration says. */
export function senderOf(
  config: Pick<OtlpConfig, "machine" | "user" | "resource">,
  state: ExporterState,
): Sender {
  const version = programVersion();
  const identity = {
    hostName: hostname(),
    userName: userName(),
    hash: (text: string) => createHmac("sha256", state.salt).update(text).digest("hex").slice(0, 32),
  };
  return { version, resource: describeResource(config, { version, id: state.instance }, identity) };
}
