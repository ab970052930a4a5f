import type { ServiceTarget } from "../../../src/service/service-manager.ts";

/** Returns the target of a service for /home/ada with some changes. */
export function targetFor(changes: Partial<ServiceTarget> = {}): ServiceTarget {
  return {
    node: "/usr/bin/node",
    script: "/usr/lib/node_modules/tollkeeper/dist/main.js",
    configFile: "/home/ada/.config/tollkeeper/config.jsonc",
    port: 8655,
    drainMs: 30_000,
    writableDirectories: ["/home/ada/.local/state/tollkeeper"],
    trustedFiles: [],
    logFile: "/home/ada/tollkeeper.log",
    launcher: "/home/ada/launcher",
    environment: {},
    runsKeyCommands: false,
    sandboxIncompatibleSettings: [],
    ...changes,
  };
}
