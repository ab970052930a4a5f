import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { scratchDirectory } from "../process/scratch-directory.ts";

/** A Unix socket whose every byte the test decides on, in the daemon's place. */
export interface UnixServer {
  path: string;
  /** Resolves with the next connection, which may be half open and is not read from. */
  accepted(): Promise<Socket>;
}

/** Listens on a Unix socket until the test ends. */
export async function listenOnUnix(t: TestContext): Promise<UnixServer> {
  const path = join(scratchDirectory(t), "tollkeeper.sock");
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => {});
  });
  server.listen(path);
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return {
    path,
    async accepted() {
      const [socket] = (await once(server, "connection")) as [Socket];
      return socket;
    },
  };
}
