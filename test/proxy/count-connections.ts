import type { Server } from "node:net";

/** Counts the connections that a server accepts from now on. The returned function says how many there were. */
export function countConnections(server: Server): () => number {
  let count = 0;
  server.on("connection", () => (count += 1));
  return () => count;
}
