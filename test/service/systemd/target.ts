import type { ServiceTarget } from "../../../src/service/service-manager.ts";

/** What a service of /home/ada's would run, but for what the test says. */
export function targetFor(changes: Partial<ServiceTarget> = {}): ServiceTarget {
  return {
    node: "/usr/bin/node",
    script: "/usr/lib/node_modules/tollkeeper/dist/main.js",
    configFile: "/home/ada/.config/tollkeeper/config.jsonc",
    port: 8655,
    drainMs: 30_000,
    writable: ["/home/ada/.local/state/tollkeeper"],
    reads: [],
    logFile: "/home/ada/tollkeeper.log",
    environment: {},
    runsKeyCommands: false,
    blindedSettings: [],
    ...changes,
  };
}
