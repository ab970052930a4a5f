import { once } from "node:events";
import { createServer } from "node:net";
import { provokesRetry } from "../../../src/core/refusals/retry-triggers.ts";

/** Below the ports that systems choose for connections and for port 0, or another test could be given the same one. */
const [FIRST, LAST] = [20_000, 32_000];

/** Returns a port that was free a moment ago, that the system does not assign by itself, and that refusals may name. */
export async function freePort(): Promise<number> {
  const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
  if (provokesRetry(String(port))) return freePort();
  const server = createServer().listen(port, "127.0.0.1");
  const isFree = await once(server, "listening").then(
    () => true,
    () => false,
  );
  if (!isFree) return freePort();
  server.close();
  await once(server, "close");
  return port;
}
