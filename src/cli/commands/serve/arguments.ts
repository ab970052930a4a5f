/** Arguments of `tollkeeper serve`. */
export interface ServeArguments {
  config?: string | undefined;
  debug: boolean;
  /** Log file; undefined for standard error. */
  logFile?: string | undefined;
}

/**
 * Parses `serve [--debug] [--config FILE] [--log-file FILE]` with the same result as yargs, but without loading it, which
 * would take 7 MB and 96 ms, more than half the time of the rest of the start.
 * @param words the command line, without node and the script
 * @returns null for any other command line, wrong usage and help included, which is left to yargs
 */
export function readServeLine(words: readonly string[]): ServeArguments | null {
  const [command, ...options] = words;
  if (command !== "serve") return null;
  const read: ServeArguments = { debug: false };
  while (options.length > 0) {
    const option = options.shift();
    if (option === "--debug" && !read.debug) read.debug = true;
    else if (option === "--config" && read.config === undefined && isPlainPath(options[0])) {
      read.config = options.shift();
    } else if (option === "--log-file" && read.logFile === undefined && isPlainPath(options[0])) {
      read.logFile = options.shift();
    } else return null;
  }
  return read;
}

/** True unless the word is an option, or in quotes, which yargs would remove. */
function isPlainPath(word: string | undefined): boolean {
  return word !== undefined && /^[\w./~]/.test(word);
}
