import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NO_SOCKETS } from "../../../adapters/activated-sockets.ts";
import { readLedger } from "../../../adapters/ledger-file.ts";
import type { IsolatedProxy } from "../../../check/guarantee.ts";
import { startRecordingUpstream } from "../../../check/recording-upstream.ts";
import type { Config } from "../../../core/config/config.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { AwsKeys } from "../../../core/secrets/aws-keys.ts";
import { Secret } from "../../../core/secrets/secret.ts";
import { RecordFeed } from "../../../daemon/record-feed.ts";
import { assembleGate, systemClock } from "../../../daemon/assemble-gate.ts";
import type { KeyStore, Log } from "../../../ports.ts";
import { hashToken, mintToken } from "../../../proxy/client/token-hash.ts";
import { isolateConfig } from "./isolate-config.ts";

/** The daemon's request path in this process, in front of a recording upstream. To be closed. */
interface OpenIsolatedProxy extends Omit<IsolatedProxy, "client"> {
  port: number;
  close(): Promise<void>;
}

/**
 * Opens the request path that `serve` would open with this configuration, except for what would cost money or touch
 * anything of the user's: a recording upstream replaces every upstream, keys are made up, the port is any free one, there is no Unix socket,
 * access is open (the tokens belong to the tools, and the only one is made up), and the ledger is in a temporary directory, removed on close.
 * @param isolate what is left of the configuration
 */
export async function openIsolatedProxy(
  config: Config,
  log: Log,
  isolate: typeof isolateConfig = isolateConfig,
): Promise<OpenIsolatedProxy> {
  const upstream = await startRecordingUpstream();
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-check-"));
  const isolated = isolate(config, upstream.origin, directory);
  const suffix = randomBytes(24).toString("hex");
  const token = mintToken(TOKEN_OWNER);
  const keyNamed = (name: string) => `made-up-${name}-${suffix}`;
  const accessKeys = {
    accessKeyId: "ASIAMADEUPBYCHECK",
    secretAccessKey: keyNamed("secret-access-key"),
    sessionToken: keyNamed("session-token"),
  };
  const keys: KeyStore = {
    read: ({ name, source }) =>
      Promise.resolve(source.kind === "command" ? new AwsKeys(accessKeys, null) : new Secret(keyNamed(name))),
  };
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
    return { port: listeners.port, upstream, config: isolated, keyNamed, accessKeys, token, records, close };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/** The tool that the made-up token belongs to. */
const TOKEN_OWNER = "check";

/** Skips lines that are not records, which therefore count as missing. */
async function readRecords(directory: string): Promise<UsageRecord[]> {
  const records: UsageRecord[] = [];
  for await (const entry of readLedger(directory, { from: "" })) {
    if (!("unreadable" in entry)) records.push(entry);
  }
  return records;
}
