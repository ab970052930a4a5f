import * as fc from "fast-check";

/** Text full of characters that are special in JSON or in event streams. */
export const trickyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom('"', "\\", "\n", "\r", "{", "}", ":", "\u2028", "\u00e9", "\u{1f4a9}", "a"),
  }),
);
