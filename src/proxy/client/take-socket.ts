import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The events by which Node's HTTP server reads a connection. Its listener for 'close' frees the parser, and stays. */
const HTTP_EVENTS = ["data", "readable", "end", "drain", "timeout", "error"];

/**
 * Takes a connection from Node's HTTP server, and switches it to WebSocket (RFC 9110 section 7.8). The request has no body, and `res` has sent
 * nothing. Node would do the same for a listener for 'upgrade', which would then get every upgrade, also one that is only an offer and
 * has to be served as an ordinary request.
 * @param headers what the 101 has besides, as a flat list
 */
export function takeSocket(req: IncomingMessage, res: ServerResponse, headers: readonly string[]): Socket {
  const { socket } = req;
  // Before the listeners go: with one for 'data' Node stops reading in its parser, outside of JavaScript.
  socket.on("data", ignore);
  res.detachSocket(socket);
  for (const event of HTTP_EVENTS) socket.removeAllListeners(event);
  socket.setTimeout(0);
  socket.pause();
  socket.write(writeHead(headers), "latin1");
  return socket;
}

function writeHead(headers: readonly string[]): string {
  let text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
  for (let at = 0; at + 1 < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return `${text}\r\n`;
}

function ignore(): void {}
