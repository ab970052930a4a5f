const [ZERO, NINE] = [0x30, 0x39];

/** Returns a whole number with a comma before each three digits: `1,204`. A pattern that looks ahead takes as long as the rest of a row of a report. */
export function groupDigits(number: string): string {
  let grouped = "";
  let end = number.length;
  for (; end > 3; end -= 3) {
    const before = number.charCodeAt(end - 4);
    if (before < ZERO || before > NINE) break;
    grouped = `,${number.slice(end - 3, end)}${grouped}`;
  }
  return number.slice(0, end) + grouped;
}
