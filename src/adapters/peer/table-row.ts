/** One end of a TCP connection. */
export interface Endpoint {
  address: string;
  port: number;
}

/**
 * The columns `local_address rem_address` of the client's own row, as `/proc/net/tcp` spells them; null for an IPv6
 * connection, which does not stand there.
 */
export function rowIn4(client: Endpoint, server: Endpoint): string | null {
  if (isV6(client)) return null;
  return columns(hexOf4(client.address), client.port, hexOf4(server.address), server.port);
}

/** The same as `/proc/net/tcp6` spells them: a v6 socket connected to a v4 address stands there, too. */
export function rowIn6(client: Endpoint, server: Endpoint): string {
  return columns(hexOf6(client), client.port, hexOf6(server), server.port);
}

function columns(client: string, clientPort: number, server: string, serverPort: number): string {
  return `${client}:${hexPort(clientPort)} ${server}:${hexPort(serverPort)}`;
}

const isV6 = ({ address }: Endpoint): boolean => address === "::1";

// Addresses stand there as groups of 32 bits in host byte order (little-endian on all we run on).

function hexOf4(address: string): string {
  const parts = address.replace(/^::ffff:/, "").split(".");
  const bytes = parts.map((part) => Number(part).toString(16).padStart(2, "0"));
  return bytes.toReversed().join("").toUpperCase();
}

function hexOf6(endpoint: Endpoint): string {
  if (isV6(endpoint)) return "00000000000000000000000001000000";
  return `0000000000000000FFFF0000${hexOf4(endpoint.address)}`;
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}
