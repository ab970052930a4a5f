import type { ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { sendRaw, type RawClient } from "../helpers/client/raw-client.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { MESSAGE_EVENTS, startHeldUpstream } from "../helpers/upstream/scripted-upstream.ts";

/** A stream whose first event has reached its client. */
export interface RunningStream {
  client: RawClient;
  /** The upstream's response, for the test to continue. */
  response: ServerResponse;
  /** Sends the rest of the stream; resolves when the client has it. */
  finish(): Promise<void>;
}

/** Opens a stream through the daemon at `port`, whose upstream hands its response over as `held`. */
export async function openStream(
  t: TestContext,
  port: number,
  held: Promise<ServerResponse>,
): Promise<RunningStream> {
  const client = await sendRaw(t, port);
  const response = await held;
  response.write(MESSAGE_EVENTS[0]);
  await client.until(/message_start/);
  const finish = async () => {
    for (const event of MESSAGE_EVENTS.slice(1)) response.write(event);
    response.end();
    await client.until(/message_stop[^]*\r\n0\r\n\r\n$/);
  };
  return { client, response, finish };
}

/** Starts a daemon in front of an upstream, and a stream that runs through both. `config` is the daemon's. */
export async function startStream(
  t: TestContext,
  settings: object = {},
): Promise<RunningStream & { daemon: Daemon; config: object }> {
  const { upstream, held } = await startHeldUpstream(t);
  const config = { ...writeKeyFile(t, upstream.baseUrl, "some-key").config, ...settings };
  const daemon = await startDaemon(t, { config });
  return { daemon, config, ...(await openStream(t, daemon.port, held)) };
}
