import type { ServiceTarget } from "../../../src/service/service-manager.ts";

/** A directory with every character that has a meaning in XML, a shell or a pattern. */
export const NASTY = '/Users/ada & <b>"o\'brien"</b> $1 %h ~ \\ ]]> é🦊';

/** Returns the target that `tollkeeper service install` would build for a home directory, with some changes. */
export function targetFor(home: string, changes: Partial<ServiceTarget> = {}): ServiceTarget {
  return {
    node: "/opt/homebrew/opt/node/bin/node",
    script: "/opt/homebrew/lib/node_modules/tollkeeper/dist/main.js",
    configFile: `${home}/Library/Application Support/tollkeeper/config.jsonc`,
    port: 8655,
    drainMs: 30_000,
    writableDirectories: [`${home}/Library/Application Support/tollkeeper`],
    trustedFiles: [],
    logFile: `${home}/Library/Logs/tollkeeper/tollkeeper.log`,
    launcher: `${home}/Library/Application Support/tollkeeper/tollkeeper`,
    environment: {},
    runsKeyCommands: false,
    sandboxIncompatibleSettings: [],
    ...changes,
  };
}
