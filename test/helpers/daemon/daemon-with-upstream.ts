import type { TestContext } from "node:test";
import { writeKeyFile, type KeyFile } from "../keychain/key-file.ts";
import {
  respondWithMessage,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from "../upstream/scripted-upstream.ts";
import { startDaemon, type Daemon, type DaemonOptions } from "./daemon.ts";

/** A daemon in front of a scripted upstream, and the file with the upstream's key. */
export interface DaemonWithUpstream {
  upstream: ScriptedUpstream;
  daemon: Daemon;
  keyFile: KeyFile;
}

export interface DaemonWithUpstreamOptions extends Omit<DaemonOptions, "config"> {
  /** The rest of the configuration. */
  config?: object;
  key?: string;
}

/** Starts a scripted upstream and a daemon in front of it. Both end with the test. */
export async function startDaemonWithUpstream(
  t: TestContext,
  script: Script = respondWithMessage,
  { config, key = "some-key", ...options }: DaemonWithUpstreamOptions = {},
): Promise<DaemonWithUpstream> {
  const upstream = await startUpstream(t, script);
  const keyFile = writeKeyFile(t, upstream.baseUrl, key);
  const daemon = await startDaemon(t, { ...options, config: { ...keyFile.config, ...config } });
  return { upstream, daemon, keyFile };
}
