import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { writeKeyFile } from "../keychain/key-file.ts";
import { rawClient, rawRequest, type RawClient } from "./raw-client.ts";
import { MESSAGE_EVENTS, SSE, startUpstream } from "../upstream/scripted-upstream.ts";

/** Streams that have begun and that the test ends, all at once. */
export interface ManyStreams {
  /** With the upstream that holds them. */
  config: ReturnType<typeof writeKeyFile>["config"];
  /** Opens streams through a daemon's port; resolves when each client has its first event. */
  open(port: number, count: number): Promise<RawClient[]>;
  /** Sends the rest of each stream that is open. */
  finish(): void;
}

/** An upstream that sends the first event of each answer and holds the rest. */
export async function holdStreams(t: TestContext): Promise<ManyStreams> {
  const held: ServerResponse[] = [];
  const upstream = await startUpstream(t, (_seen, res) => {
    res.writeHead(200, SSE).write(MESSAGE_EVENTS[0]);
    held.push(res);
  });
  return {
    config: writeKeyFile(t, upstream.baseUrl, "some-key").config,
    async open(port, count) {
      const clients = await Promise.all(Array.from({ length: count }, () => rawClient(t, port)));
      for (const client of clients) client.write(rawRequest(port));
      await Promise.all(clients.map((client) => client.until(/message_start/)));
      return clients;
    },
    finish() {
      for (const res of held.splice(0)) res.end(MESSAGE_EVENTS.slice(1).join(""));
    },
  };
}

const WHOLE = /message_start[^]*message_stop[^]*\r\n0\r\n\r\n$/;

/** Waits for the end of each stream, and sees that each came whole. */
export async function assertComplete(clients: readonly RawClient[]): Promise<void> {
  for (const client of clients) assert.match(await client.until(/\r\n0\r\n\r\n$/), WHOLE);
}
