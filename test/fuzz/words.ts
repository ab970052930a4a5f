/** The words of a text, in their order: a list that is easier to read than one of literals. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
