import type { ServiceTarget } from "../../../src/service/service-manager.ts";

/** A service of somebody whose directories have everything in their names that XML, a shell or a pattern reads. */
export const NASTY = '/Users/ada & <b>"o\'brien"</b> $1 %h ~ \\ ]]> é🦊';

/** A service as `tollkeeper service install` would have it, for the user whose home directory is given. */
export function targetFor(home: string, changes: Partial<ServiceTarget> = {}): ServiceTarget {
  return {
    node: "/opt/homebrew/opt/node/bin/node",
    script: "/opt/homebrew/lib/node_modules/tollkeeper/dist/main.js",
    configFile: `${home}/Library/Application Support/tollkeeper/config.jsonc`,
    port: 8655,
    drainMs: 30_000,
    writable: [`${home}/Library/Application Support/tollkeeper`],
    reads: [],
    logFile: `${home}/Library/Logs/tollkeeper/tollkeeper.log`,
    environment: {},
    runsKeyCommands: false,
    blindedSettings: [],
    ...changes,
  };
}
