import * as fc from "fast-check";

/** A header as sent in a request. */
export type Header = [name: string, value: string];

/** The characters that Node's strict parser allows in a value: visible ASCII, space and the upper half of Latin-1. */
export const headerValue: fc.Arbitrary<string> = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 30,
});

/** RFC 9110 section 5.6.2. */
export const headerName: fc.Arbitrary<string> = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/);

/** Varies the case of a name, and sometimes replaces its dashes by underscores. */
export function respell(name: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(name, fc.nat(), fc.integer({ min: 0, max: 5 })).map(([text, cases, dashes]) => {
    const mixed = text.replace(/[a-z]/gi, (char, i: number) =>
      (cases >> (i % 31)) & 1 ? char.toUpperCase() : char.toLowerCase(),
    );
    return dashes === 0 ? mixed.replaceAll("-", "_") : mixed;
  });
}

/** `[name, value, ...]`, as Node's `rawHeaders` has it. */
export function flatten(headers: readonly Header[]): string[] {
  return headers.flat();
}

/** Reverses {@link flatten}. */
export function pairsOf(flat: readonly string[]): Header[] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]);
}
