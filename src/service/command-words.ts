/** What a service's definition says it runs. Paths are absolute; null for what it does not name so. */
export interface NamedCommand {
  node: string | null;
  script: string | null;
  /** null for the default one. */
  configFile: string | null;
}

/** Reads the command of a definition, `NODE MAIN.js serve [--config FILE]`, which may be of another make. */
export function readCommandWords(words: readonly string[]): NamedCommand {
  const [node, script, ...options] = words;
  const config = options.indexOf("--config");
  return {
    node: absolute(node),
    script: absolute(script),
    configFile: config === -1 ? null : absolute(options[config + 1]),
  };
}

function absolute(word: string | undefined): string | null {
  return word?.startsWith("/") === true ? word : null;
}
