import type { TestContext } from "node:test";
import { sendJson, startUpstream } from "./scripted-upstream.ts";

/** A working server that must not be contacted, not even by a connection. */
export interface UnexpectedServer {
  origin: string;
  /** `HOST:PORT` */
  authority: string;
  /** The number of connections so far. */
  connections(): number;
}

/** Starts a server that ends with the test. */
export async function startUnexpectedServer(t: TestContext): Promise<UnexpectedServer> {
  let connections = 0;
  const { origin, server } = await startUpstream(t, (_seen, res) => sendJson(res, { data: [] }));
  server.on("connection", () => (connections += 1));
  return { origin, authority: new URL(origin).host, connections: () => connections };
}
