import { connect, type Socket } from "node:net";

/** How long a client may take to close its side after the last response. */
const LINGER_MS = 30_000;

/** How a request begins (RFC 9112 section 3). Clients wait for a response before they send the next request, so a request begins a piece. */
const REQUEST_LINE = /^[A-Z]{3,7} \//;

/**
 * Passes bytes on between a client and the daemon's Unix socket, each side no faster than the other reads. An end is passed on as an
 * end, and what breaks off as a reset. A Unix socket has no resets, so a daemon that closes it without a byte of answer to a request
 * counts as one. A truncated response lacks its last chunk, or bytes of its announced length, here as on the daemon's own port. One that
 * has neither ends the same way whether it is whole or not.
 * @param client an accepted connection that is paused, and may be half open
 * @param onUnreachable called when nothing listens on the socket; the client is then still to be answered
 */
export function relay(client: Socket, path: string, onUnreachable: (error: Error) => void): void {
  const daemon = connect({ path, allowHalfOpen: true });
  let isConnected = false;
  let isUnanswered = false;
  client.on("error", () => daemon.destroy());
  client.on("close", () => {
    if (!client.readableEnded) daemon.destroy();
  });
  daemon.on("error", (error) => {
    if (!isConnected) onUnreachable(error);
    else if (daemon.readableEnded) discardRest(client, daemon);
    else reset(client, daemon);
  });
  daemon.on("connect", () => {
    isConnected = true;
    client.on(
      "data",
      (bytes: Buffer) => (isUnanswered ||= REQUEST_LINE.test(bytes.toString("latin1", 0, 9))),
    );
    daemon.on("data", () => (isUnanswered = false));
    // Before the pipe's own listener, which would end the client's side.
    daemon.on("end", () => {
      if (isUnanswered) reset(client, daemon);
      else lingerAfterEnd(client);
    });
    client.pipe(daemon);
    daemon.pipe(client);
  });
}

/** Sends a response of our own, whatever the request, and closes the connection. */
export function answerAndEnd(client: Socket, text: string): void {
  client.resume();
  client.on("error", () => {});
  lingerAfterEnd(client);
  client.end(text);
}

function reset(client: Socket, daemon: Socket): void {
  daemon.unpipe(client);
  if (client.writableEnded) client.destroy();
  else client.resetAndDestroy();
}

/** The daemon has responded and closed. What the client still sends must not keep the response from arriving. */
function discardRest(client: Socket, daemon: Socket): void {
  client.unpipe(daemon);
  client.resume();
}

function lingerAfterEnd(client: Socket): void {
  client.once("finish", () => client.setTimeout(LINGER_MS, () => client.destroy()));
}
