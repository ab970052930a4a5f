/** The command line in a service definition. Paths are absolute; null where the definition names no absolute path. */
export interface ServiceCommand {
  node: string | null;
  script: string | null;
  /** null when none is named: the daemon then uses the default one. */
  configFile: string | null;
}

/**
 * Parses the command of a definition, normally `NODE MAIN.js serve [--config FILE]`. A definition written by someone
 * else may run `/usr/bin/env tollkeeper serve`, which identifies neither Node nor the script.
 */
export function parseServiceCommand(argv: readonly string[]): ServiceCommand {
  const [node, script] = argv.slice(0, 2).map(absolute);
  const namesBoth = typeof node === "string" && typeof script === "string";
  const config = argv.indexOf("--config");
  return {
    node: namesBoth ? node : null,
    script: namesBoth ? script : null,
    configFile: config === -1 ? null : absolute(argv[config + 1]),
  };
}

function absolute(path: string | undefined): string | null {
  return path?.startsWith("/") === true ? path : null;
}
