/** A command line as a person can type it in a shell. */
export function writeCommand(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[\w./:@=+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
