import * as fc from "fast-check";

/** Text full of what a scanner of JSON or of lines could stumble over. */
export const awkwardText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom('"', "\\", "\n", "\r", "{", "}", ":", "\u2028", "\u00e9", "\u{1f4a9}", "a"),
  }),
);
