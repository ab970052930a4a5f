import type { Socket } from "node:net";

/**
 * Closes a connection with a reset, which the client cannot take for the end of a response. One whose end is already being sent is
 * closed without: libuv refuses to reset it, and Node 20 then neither closes the socket nor emits 'close'.
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
