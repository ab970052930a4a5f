import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLedger } from "../../../adapters/ledger-file/reader.ts";
import type { Installation } from "../../../check/check.ts";
import { startEcho } from "../../../check/echo.ts";
import { plainUpstream, type Config, type Upstream } from "../../../core/config/config.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { Secret } from "../../../core/secrets/secret.ts";
import type { KeyStore, Log } from "../../../ports.ts";
import { RecordFeed } from "../../../daemon/record-feed.ts";
import { openRequestPath, systemClock } from "../../../daemon/request-path.ts";

/** The daemon's request path in this process, in front of an echo; to be closed. */
export interface OwnInstallation extends Omit<Installation, "client"> {
  port: number;
  close(): Promise<void>;
}

/**
 * Builds what `serve` would build of this configuration, but for what would cost or touch anything: an echo in place of
 * every upstream, made-up keys, a free port, open access (the tokens are the tools' own), and a ledger in a temporary directory that is removed at the end.
 */
export async function openOwnInstallation(config: Config, log: Log): Promise<OwnInstallation> {
  const echo = await startEcho();
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-check-"));
  const onEcho = leadToEcho(config, echo.origin, directory);
  const keyNamed = makeUpKeys();
  const keys: KeyStore = { read: ({ name }) => Promise.resolve(new Secret(keyNamed(name))) };
  const cleanUp = async () => {
    await echo.close();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const tokens = { read: () => [] };
    const parts = {
      config: onEcho,
      keys,
      tokens,
      clock: systemClock,
      log,
      feed: new RecordFeed(),
      sockets: [],
    };
    const { gate, listeners, ledger } = await openRequestPath(parts);
    const close = async () => {
      gate.close();
      ledger.close();
      await listeners.destroy();
      await cleanUp();
    };
    const records = () => recordsIn(directory);
    return { port: listeners.port, echo, config: onEcho, keyNamed, records, close };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/** Each upstream gets a path of its own on the echo, so that they can be told apart. */
function leadToEcho(config: Config, origin: string, ledgerDirectory: string): Config {
  const upstreams = Object.values(config.upstreams);
  if (upstreams.length === 0) upstreams.push(plainUpstream("default", `${origin}/v1`));
  const moved = upstreams.map((upstream): [string, Upstream] => {
    const basePath = `/${upstream.name}${upstream.basePath}`;
    const keySource = { kind: "keychain" } as const;
    return [upstream.name, { ...upstream, origin, basePath, baseUrl: origin + basePath, keySource }];
  });
  return {
    ...config,
    listen: { ...config.listen, port: 0 },
    access: { ...config.access, mode: "open" },
    ledger: { ...config.ledger, directory: ledgerDirectory },
    upstreams: Object.fromEntries(moved),
  };
}

/** One random value for each name; none is a key anywhere. */
function makeUpKeys(): (name: string) => string {
  const values = new Map<string, string>();
  return (name) => {
    const value = values.get(name) ?? `made-up-${randomBytes(24).toString("hex")}`;
    values.set(name, value);
    return value;
  };
}

/** A line that is no record counts as missing. */
async function recordsIn(directory: string): Promise<UsageRecord[]> {
  const records: UsageRecord[] = [];
  for await (const entry of readLedger(directory, { from: "" })) {
    if (!("unreadable" in entry)) records.push(entry);
  }
  return records;
}
