/** Returns one line of a report with a fact a line: a label, padded to a column, and the fact. */
export function labelledLine(label: string, text: string): string {
  return `${label.padEnd(11)} ${text}`;
}
