import { homedir } from "node:os";
import { readConfigFile, type ConfigReading } from "../../adapters/config-file.ts";
import { createKeySources } from "../../adapters/key-sources.ts";
import { createKeychain, tryKeychain } from "../../adapters/keychain.ts";
import type { Config } from "../../core/config/config.ts";
import { Failure, KeyFailure } from "../../core/failure.ts";
import { daemonStatus } from "../../daemon/client.ts";
import { configPath } from "../../adapters/paths.ts";
import { systemClock } from "../../daemon/request-path.ts";
import type { DaemonStatus } from "../commands/status/report.ts";
import { askUpstreams, type UpstreamAnswer } from "./ask-upstreams.ts";
import { judgeProcess, type ProcessVerdict } from "./own-process.ts";
import { placesIn } from "../dotfiles/locations.ts";
import { readKeys, type KeyReading } from "./read-keys.ts";
import { readPlaces, type ReadPlace } from "../dotfiles/read.ts";
import { askServiceManager, type ServiceAnswer } from "./service-state.ts";

/** A daemon that answered, none, or one that fails to answer. */
export interface DaemonAnswer {
  status: DaemonStatus | null;
  failure: Failure | null;
}

/** What the checks look at. Each thing is found out when it is first asked for, and once. */
export interface Evidence {
  /** Absolute. */
  configFile: string;
  isDefaultConfigFile: boolean;
  home: string;
  env: NodeJS.ProcessEnv;
  /** Wall time, milliseconds since 1970. */
  now(): number;
  reading(): Promise<ConfigReading>;
  /** The configuration; null when the file is not good. */
  config(): Promise<Config | null>;
  process(): ProcessVerdict;
  daemon(): Promise<DaemonAnswer>;
  service(): Promise<ServiceAnswer>;
  /** What stands in the way of using the keychain; null for nothing. */
  keychain(): Promise<KeyFailure | null>;
  /** Every key that the configuration names; none while this process would give them away. */
  keys(): Promise<KeyReading[]>;
  answers(): Promise<UpstreamAnswer[]>;
  /** Shell start-up files and configurations of tools, as far as they are there. */
  places(): Promise<ReadPlace[]>;
}

/** Everything about this user on this machine, with the configuration at `configFile`. */
export function gatherEvidence(configFile: string): Evidence {
  const home = homedir();
  // A copy: hardening this process takes variables out of its own.
  const env = { ...process.env };
  const reading = once(() => readConfigFile(configFile));
  const config = async () => {
    const read = await reading();
    return read.ok ? read.config : null;
  };
  const processVerdict = once(judgeProcess);
  const keychain = once(findKeychainFailure);
  const daemon = once(askDaemon);
  const keys = once(async () => {
    const found = await config();
    if (found === null || processVerdict().refusal !== null) return [];
    return readKeys(found, createKeySources(createKeychain()), keychain);
  });
  return {
    configFile,
    isDefaultConfigFile: configFile === configPath(),
    home,
    env,
    now: () => systemClock.now(),
    reading,
    config,
    process: processVerdict,
    daemon,
    service: once(askServiceManager),
    keychain,
    keys,
    answers: once(async () => {
      const found = await config();
      return found === null ? [] : askUpstreams(await keys(), found.outbound);
    }),
    places: once(() => readPlaces(placesIn({ home, env, platform: process.platform }))),
  };
}

function once<T>(find: () => T): () => T {
  let found: { value: T } | null = null;
  return () => (found ??= { value: find() }).value;
}

async function askDaemon(): Promise<DaemonAnswer> {
  try {
    return { status: await daemonStatus(), failure: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { status: null, failure: error };
  }
}

async function findKeychainFailure(): Promise<KeyFailure | null> {
  try {
    await tryKeychain();
    return null;
  } catch (error) {
    if (!(error instanceof KeyFailure)) throw error;
    return error;
  }
}
