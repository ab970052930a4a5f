/** The part of what yargs knows of a command's options that is used here. */
interface KnownOptions {
  key: Readonly<Record<string, unknown>>;
  boolean: readonly string[];
  array: readonly string[];
}

/**
 * Returns what is wrong with the options of a command line; null when nothing is. yargs takes an option without its value for
 * an empty text or the default, and gives a list to a command that expects one value.
 */
export function findOptionFault(
  words: readonly string[],
  argv: object,
  options: KnownOptions,
): string | null {
  const end = words.indexOf("--");
  const own = end === -1 ? words : words.slice(0, end);
  for (const [index, word] of own.entries()) {
    const name = /^--?([^=-][^=]*)=?$/.exec(word)?.[1];
    if (name === undefined || !(name in options.key) || options.boolean.includes(name)) continue;
    const next = word.endsWith("=") ? undefined : own[index + 1];
    if (next === undefined || next === "" || /^-[^\d]/.test(next))
      return `${word.replace("=", "")} needs a value`;
  }
  for (const [name, value] of Object.entries(argv)) {
    if (!(name in options.key) || options.array.includes(name) || !Array.isArray(value)) continue;
    return `--${name} may be given only once`;
  }
  return null;
}
