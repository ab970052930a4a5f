import { networkInterfaces } from "node:os";

/** Returns the values of `ListenStream=` for the port, in the order in which the daemon itself would listen. */
export function listenAddresses(port: number, hasIpv6 = isIpv6On()): string[] {
  return [`127.0.0.1:${port}`, ...(hasIpv6 ? [`[::1]:${port}`] : [])];
}

function isIpv6On(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === "::1"),
  );
}
