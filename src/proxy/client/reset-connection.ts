import type { Socket } from "node:net";

/**
 * Closes a connection with a reset, which the client cannot take for the end of a response. One whose end is already being sent is
 * closed without: libuv refuses to reset it, and Node 20 then neither closes the socket nor emits 'close'. A Unix socket, which has
 * no port, has no reset either: there the client sees the end before any response, and `tollkeeper bridge` makes it a reset again.
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded || socket.localPort === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
