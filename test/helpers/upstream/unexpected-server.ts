import type { TestContext } from "node:test";
import { sendJson, startUpstream } from "./scripted-upstream.ts";

/** A server that would answer, and must not be asked, not even for a connection. */
export interface UnexpectedServer {
  origin: string;
  /** Host and port. */
  authority: string;
  /** How many came to it. */
  connections(): number;
}

/** Starts one that ends with the test. */
export async function startUnexpectedServer(t: TestContext): Promise<UnexpectedServer> {
  let connections = 0;
  const { origin, server } = await startUpstream(t, (_seen, res) => sendJson(res, { data: [] }));
  server.on("connection", () => (connections += 1));
  return { origin, authority: new URL(origin).host, connections: () => connections };
}
