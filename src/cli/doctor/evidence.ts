import { readConfigFile, type ConfigReading } from "../../adapters/config-file.ts";
import { createKeySources } from "../../adapters/key-sources.ts";
import { checkKeychain, createKeychain } from "../../adapters/keychain.ts";
import { homeDirectory } from "../../adapters/paths.ts";
import type { Config } from "../../core/config/config.ts";
import { Failure, KeyFailure } from "../../core/failure.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import { hardenProcess } from "../../daemon/harden.ts";
import type { DaemonStatus } from "../../daemon/status.ts";
import { findServiceManager } from "../../service/find-manager.ts";
import type { ServiceProblem, ServiceState } from "../../service/service-manager.ts";
import { attempt } from "../attempt.ts";
import { listTools, type ListedTool } from "../connect/list-tools.ts";
import { readToolHost } from "../connect/local-endpoint.ts";
import { listDotfiles } from "../dotfiles/locations.ts";
import { readDotfiles, type Dotfile } from "../dotfiles/read.ts";
import { diagnose, type Diagnosis } from "../service/diagnose.ts";
import { probeUpstreams, type UpstreamProbes } from "./evidence/probe-upstreams.ts";
import { readKeys, type KeyReading } from "./evidence/read-keys.ts";

/** The running daemon's status. Both are null when none runs; `failure` when one runs and does not respond as it should. */
interface DaemonProbe {
  status: DaemonStatus | null;
  failure: Failure | null;
}

/** The result of hardening this process like the daemon's: what prevents it here would prevent it there. */
interface Hardening {
  /** Why a process with these settings may not hold a key; null when it may. `doctor` reads no key then. */
  refusal: Failure | null;
  warnings: string[];
}

/** What the service manager reports about the service, or why no service manager could be asked. */
interface ServiceProbe {
  /** `systemd` or `launchd`; empty when there is none. */
  managerName: string;
  state: ServiceState | null;
  /** Its hint says what to use instead. */
  failure: Failure | null;
  /** What is wrong with its definition, even while it runs. */
  problems: ServiceProblem[];
  /** Why it does not start, and what to type; null when nothing is known to be wrong. */
  diagnosis: Diagnosis | null;
  /** The PATH of an installed service; null when there is none, or it is not known. */
  searchPath: string | null;
  /** The variables with which it starts programs, as far as they are known. */
  variables: Record<string, string>;
}

/** What the checks look at. Each method gathers its part on the first call and returns the same on later ones. */
export interface Evidence {
  /** Absolute path. */
  configFile: string;
  home: string;
  env: NodeJS.ProcessEnv;
  /** Wall time, milliseconds since 1970. */
  now(): number;
  configReading(): Promise<ConfigReading>;
  /** The configuration; null when the file is not valid. */
  config(): Promise<Config | null>;
  hardening(): Promise<Hardening>;
  daemon(): Promise<DaemonProbe>;
  service(): Promise<ServiceProbe>;
  /** Why the keychain cannot be used; null when it can. */
  keychainFailure(): Promise<KeyFailure | null>;
  /** Every key that the configuration names; none when this process cannot be hardened. */
  keys(): Promise<KeyReading[]>;
  upstreams(): Promise<UpstreamProbes>;
  /** Shell start-up files and tools' configuration files, as far as they exist. */
  dotfiles(): Promise<Dotfile[]>;
  /** Every known tool with its connections. */
  tools(): Promise<ListedTool[]>;
}

/** Returns the evidence about this user on this machine, with the configuration at `configFile`. */
export function gatherEvidence(configFile: string): Evidence {
  const home = homeDirectory();
  // A copy, because hardening removes variables from this process's environment.
  const env = { ...process.env };
  const configReading = once(() => readConfigFile(configFile));
  const config = async () => {
    const reading = await configReading();
    return reading.ok ? reading.config : null;
  };
  const hardening = once(tryHardening);
  const keychainFailure = once(async () => (await attempt(KeyFailure, checkKeychain)).failure);
  const keys = once(async () => {
    const current = await config();
    if (current === null || (await hardening()).refusal !== null) return [];
    return readKeys(current, createKeySources(createKeychain()), keychainFailure);
  });
  const daemon = once(probeDaemon);
  return {
    configFile,
    home,
    env,
    now: () => Date.now(),
    configReading,
    config,
    hardening,
    daemon,
    service: once(probeService),
    keychainFailure,
    keys,
    upstreams: once(async () => {
      const current = await config();
      const found = await keys();
      if (current === null || found.length === 0) return { probes: [], trust: null };
      return probeUpstreams(found, current, configFile);
    }),
    tools: once(async () => {
      const { status } = await daemon();
      // A running daemon goes by the configuration that it has read.
      const access = status?.access ?? (await config())?.access;
      return listTools({ ...readToolHost(), env }, access?.mode === "token");
    }),
    dotfiles: once(() => readDotfiles(listDotfiles({ home, env, platform: process.platform }))),
  };
}

function once<T>(gather: () => T): () => T {
  let result: { value: T } | null = null;
  return () => (result ??= { value: gather() }).value;
}

async function probeDaemon(): Promise<DaemonProbe> {
  const { value: status, failure } = await attempt(Failure, daemonStatus);
  return { status, failure };
}

async function tryHardening(): Promise<Hardening> {
  const { value: warnings, failure: refusal } = await attempt(Failure, hardenProcess);
  return { refusal, warnings: warnings ?? [] };
}

const NO_SERVICE = {
  managerName: "",
  state: null,
  problems: [],
  diagnosis: null,
  searchPath: null,
  variables: {},
};

async function probeService(): Promise<ServiceProbe> {
  const { value, failure } = await attempt(Failure, async () => {
    const manager = await findServiceManager();
    const state = await manager.state();
    const variables = await manager.environment();
    const searchPath = state.isInstalled ? (variables["PATH"] ?? null) : null;
    const found = { problems: await manager.problems(), diagnosis: await diagnose(manager, state) };
    return { managerName: manager.name, state, searchPath, variables, ...found };
  });
  return { ...NO_SERVICE, ...value, failure };
}
