import { stripVTControlCharacters } from "node:util";

/**
 * Returns the width of an ASCII text in columns. In the bundle it takes the place of `string-width`, with which yargs measures
 * its help: that library builds tables of all scripts and emojis as it is loaded, 25 ms, and our help is ASCII.
 */
export default function asciiWidth(text: string): number {
  return stripVTControlCharacters(text).length;
}
