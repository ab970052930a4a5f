import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { writeKeyFile } from "../keychain/key-file.ts";
import { rawClient, rawRequest, type RawClient } from "./raw-client.ts";
import { MESSAGE_EVENTS, sendJson, SSE, startUpstream } from "../upstream/scripted-upstream.ts";

/** Streams that have started and that the test finishes all at once. */
export interface ManyStreams {
  /** Names the upstream that holds the streams. */
  config: ReturnType<typeof writeKeyFile>["config"];
  /** Opens `count` streams through a daemon; resolves when every client has received its first event. */
  open(port: number, count: number): Promise<RawClient[]>;
  /** Sends the rest of every open stream. */
  finish(): void;
}

/** Starts an upstream that sends the first event of each response to a POST and holds back the rest. */
export async function holdStreams(t: TestContext): Promise<ManyStreams> {
  const held: ServerResponse[] = [];
  const upstream = await startUpstream(t, (seen, res) => {
    if (seen.method === "GET") return sendJson(res, { data: [] });
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

const COMPLETE_STREAM = /message_start[^]*message_stop[^]*\r\n0\r\n\r\n$/;

/** Waits for the end of each stream and asserts that it is complete. */
export async function assertComplete(clients: readonly RawClient[]): Promise<void> {
  for (const client of clients) assert.match(await client.until(/\r\n0\r\n\r\n$/), COMPLETE_STREAM);
}
