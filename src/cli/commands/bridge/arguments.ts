/** Arguments of `tollkeeper bridge`. */
export interface BridgeArguments {
  /** Path of the daemon's Unix socket. */
  socket: string;
  /** Port on loopback; 0 chooses a free one, and undefined means the daemon's usual one. */
  port?: number | undefined;
}

/**
 * Parses `bridge --socket PATH [--port PORT]` with the same result as yargs, but without loading it, which would take most of the
 * start.
 * @param words the command line, without node and the script
 * @returns null for any other command line, wrong usage and help included, which is left to yargs
 */
export function readBridgeLine(words: readonly string[]): BridgeArguments | null {
  const [command, ...options] = words;
  if (command !== "bridge") return null;
  let socket: string | null = null;
  let port: number | null = null;
  while (options.length > 0) {
    const [option, value = ""] = options.splice(0, 2);
    if (option === "--socket" && socket === null && /^[\w./~]/.test(value)) socket = value;
    else if (option === "--port" && port === null && isPort(value)) port = Number(value);
    else return null;
  }
  return socket === null ? null : { socket, port: port ?? undefined };
}

/** True for the number of a port as people write it. */
export function isPort(text: string): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;
}
