import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NO_SOCKETS } from "../../../adapters/activated-sockets.ts";
import { readLedger } from "../../../adapters/ledger-file.ts";
import type { IsolatedProxy } from "../../../check/guarantee.ts";
import { startRecordingUpstream } from "../../../check/recording-upstream.ts";
import { createUpstream, type Config, type Upstream } from "../../../core/config/config.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { Secret } from "../../../core/secrets/secret.ts";
import { RecordFeed } from "../../../daemon/record-feed.ts";
import { assembleGate, systemClock } from "../../../daemon/assemble-gate.ts";
import type { KeyStore, Log } from "../../../ports.ts";
import { hashToken, mintToken } from "../../../proxy/client/token-hash.ts";

/** The daemon's request path in this process, in front of a recording upstream. To be closed. */
interface OpenIsolatedProxy extends Omit<IsolatedProxy, "client"> {
  port: number;
  close(): Promise<void>;
}

/**
 * Opens the request path that `serve` would open with this configuration, except for what would cost money or touch
 * anything of the user's: a recording upstream replaces every upstream, keys are made up, the port is any free one, there is no Unix socket,
 * access is open (the tokens belong to the tools, and the only one is made up), and the ledger is in a temporary directory, removed on close.
 */
export async function openIsolatedProxy(config: Config, log: Log): Promise<OpenIsolatedProxy> {
  const upstream = await startRecordingUpstream();
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-check-"));
  const isolated = isolateConfig(config, upstream.origin, directory);
  const suffix = randomBytes(24).toString("hex");
  const token = mintToken(TOKEN_OWNER);
  const keyNamed = (name: string) => `made-up-${name}-${suffix}`;
  const keys: KeyStore = { read: ({ name }) => Promise.resolve(new Secret(keyNamed(name))) };
  const cleanUp = async () => {
    await upstream.close();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const { gate, listeners, ledger, tokens } = await assembleGate({
      config: isolated,
      configFile: null,
      keys,
      tokens: { read: () => [] },
      clock: systemClock,
      log,
      feed: new RecordFeed(),
      pauses: { judge: () => null, namesTools: false },
      health: () => "ok",
      feeds: null,
      describeDaemon: () => Promise.resolve([]),
      sockets: NO_SOCKETS,
      managed: () => null,
    });
    tokens.lease(TOKEN_OWNER, hashToken(token).toString("hex"));
    const close = async () => {
      gate.close();
      ledger.close();
      await listeners.destroy();
      await cleanUp();
    };
    const records = () => readRecords(directory);
    return { port: listeners.port, upstream, config: isolated, keyNamed, token, records, close };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/** The tool that the made-up token belongs to. */
const TOKEN_OWNER = "check";

/** Without choice by API or model, so that every guarantee holds for the first upstream, and for every tool. */
const SERVES_ALL = { apis: null, models: null };

/** What is sent is compared with made-up keys, and these sign nothing. */
function withoutSignature({ auth }: Upstream): Pick<Upstream, "auth"> {
  return { auth: auth === "sigv4" ? null : auth };
}

/** What was spent is not in its ledger. */
const NO_BUDGETS = { projects: {}, keys: {}, budgets: [] };

/** Gives each upstream a path of its own on the recording upstream, so that they can be told apart. */
function isolateConfig(config: Config, origin: string, ledgerDirectory: string): Config {
  const upstreams = Object.values(config.upstreams);
  if (upstreams.length === 0) upstreams.push(createUpstream("default", `${origin}/v1`));
  const moved = upstreams.map((upstream): [string, Upstream] => {
    const basePath = `/${upstream.name}${upstream.basePath}`;
    const keySource = { kind: "keychain" } as const;
    // The made-up keys show where a key goes. That what a tool sends goes nowhere else, test/security shows.
    const credential = "key" as const;
    return [
      upstream.name,
      {
        ...upstream,
        ...SERVES_ALL,
        ...withoutSignature(upstream),
        origin,
        basePath,
        baseUrl: origin + basePath,
        keySource,
        credential,
      },
    ];
  });
  return {
    ...config,
    listen: { ...config.listen, port: 0, socket: null },
    access: { ...config.access, mode: "open" },
    ledger: { ...config.ledger, directory: ledgerDirectory },
    export: { ...config.export, metrics: null },
    upstreams: Object.fromEntries(moved),
    tools: mapValues(config.tools, (tool) => ({ ...tool, budgets: [], brake: null })),
    groups: mapValues(config.groups, (group) => ({ ...group, models: null, budgets: [], brake: null })),
    ...NO_BUDGETS,
  };
}

function mapValues<Value>(record: Readonly<Record<string, Value>>, map: (value: Value) => Value) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

/** Skips lines that are not records, which therefore count as missing. */
async function readRecords(directory: string): Promise<UsageRecord[]> {
  const records: UsageRecord[] = [];
  for await (const entry of readLedger(directory, { from: "" })) {
    if (!("unreadable" in entry)) records.push(entry);
  }
  return records;
}
