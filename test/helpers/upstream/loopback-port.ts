import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { provokesRetry } from "../../../src/core/refusals/retry-triggers.ts";

/**
 * Listens on a free port of 127.0.0.1 and returns it. No port that tools would read as a status, such as 42950: a refusal leaves out an
 * origin that has one, and tests expect the origin.
 */
export async function listenOnLoopback(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  if (!provokesRetry(String(port))) return port;
  server.close();
  await once(server, "close");
  return listenOnLoopback(server);
}
