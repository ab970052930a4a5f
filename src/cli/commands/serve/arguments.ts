/** What `tollkeeper serve` is told on its command line. */
export interface ServeArguments {
  config?: string | undefined;
  debug: boolean;
  /** Where the log goes when not to standard error. */
  logFile?: string | undefined;
}

/**
 * Reads the command lines by which a daemon is started, `serve [--debug] [--config FILE] [--log-file FILE]`, as yargs would: without it,
 * because loading and running yargs takes 96 ms, more than half as much again as the whole start, and 7 MB.
 * @param words the command line, after node and the script
 * @returns null for whatever else the line says, wrong usage and help included; that is for yargs to read
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

/** Neither an option nor in quotes, which yargs would take off. */
function isPlainPath(word: string | undefined): boolean {
  return word !== undefined && /^[\w./~]/.test(word);
}
