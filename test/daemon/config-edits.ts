import { writeFileSync } from "node:fs";

/** What a daemon logs after a changed configuration, and after SIGHUP. */
export const IN_FORCE = /"msg":"the new configuration is in force"/;
export const READ_AGAIN = /"msg":"reloaded configuration and keys"/;
export const NOT_ACCEPTED = /the new configuration cannot be applied; still using the old one: [^"]*/;
export const MOVED = /"msg":"moved to another address"/;

/** Replaces the daemon's configuration file. Unless `config` says otherwise, the port stays. */
export function editConfig({ configFile, port }: { configFile: string; port: number }, config: object): void {
  writeFileSync(configFile, JSON.stringify({ listen: { port }, ...config }));
}
