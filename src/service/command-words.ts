/** What a service's definition says it runs. Paths are absolute; null for what it does not name so. */
export interface NamedCommand {
  node: string | null;
  script: string | null;
  /** null when it names none: then the daemon takes the default one. */
  configFile: string | null;
}

/**
 * Reads the command of a definition, `NODE MAIN.js serve [--config FILE]`, which may be of another make: of
 * `/usr/bin/env tollkeeper serve` neither Node nor the program can be known.
 */
export function readCommandWords(words: readonly string[]): NamedCommand {
  const [node, script] = words.slice(0, 2).map(absolute);
  const isOfOurMake = typeof node === "string" && typeof script === "string";
  const config = words.indexOf("--config");
  return {
    node: isOfOurMake ? node : null,
    script: isOfOurMake ? script : null,
    configFile: config === -1 ? null : absolute(words[config + 1]),
  };
}

function absolute(word: string | undefined): string | null {
  return word?.startsWith("/") === true ? word : null;
}
