import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { provokesRetry } from "../../../src/core/refusals/retry-triggers.ts";

/** Below the ports that systems choose for connections and for port 0, or another test could be given the same one. */
const [FIRST, LAST] = [20_000, 32_000];

/**
 * Returns a port that was free a moment ago, that the system does not assign by itself, and that refusals may name. On Linux no other call
 * returns it while this process lives, in any test.
 */
export async function freePort(): Promise<number> {
  const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
  if (provokesRetry(String(port)) || !(await isReserved(port))) return freePort();
  const server = createServer().listen(port, "127.0.0.1");
  if (!(await listens(server))) return freePort();
  server.close();
  await once(server, "close");
  return port;
}

/** Takes a name that stands for the port. It is in no file, and is given back when this process ends (unix(7), abstract sockets). */
async function isReserved(port: number): Promise<boolean> {
  if (process.platform !== "linux") return true;
  return listens(createServer().unref().listen(`\0tollkeeper-test-port-${port}`));
}

function listens(server: Server): Promise<boolean> {
  return once(server, "listening").then(
    () => true,
    () => false,
  );
}
