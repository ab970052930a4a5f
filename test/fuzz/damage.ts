import * as fc from "fast-check";

/** A change of a body. Positions are taken modulo its length, so that every number is valid. */
type Damage =
  | { kind: "flip"; at: Place; bits: number }
  | { kind: "cut"; at: Place; length: number }
  | { kind: "double"; at: Place; length: number }
  | { kind: "insert"; at: Place; text: string }
  | { kind: "splice"; at: Place; from: Place };

/** Any position, or one near the nth occurrence of a significant word. */
type Place = { anywhere: number } | { word: string; nth: number; offset: number };

const WORDS = ["usage", "tokens", '"type"', '"id"', "stop_reason", "data:", "event:", "\n", "}", "{", '"'];
const LINE_ENDS = ["\n", "\r", "\r\n", "\n\n", "\r\r", "\n\r"];
const TOKENS = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "0",
  "-",
  "e9",
  "9007199254740993",
  "null",
  "\u{feff}",
];

const place: fc.Arbitrary<Place> = fc.oneof(
  fc.record({ anywhere: fc.nat() }),
  fc.record({
    word: fc.constantFrom(...WORDS),
    nth: fc.nat(200),
    offset: fc.integer({ min: -3, max: 20 }),
  }),
);

const length = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5000 }));

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant("flip" as const), at: place, bits: fc.integer({ min: 1, max: 255 }) }),
  fc.record({ kind: fc.constant("cut" as const), at: place, length }),
  fc.record({ kind: fc.constant("double" as const), at: place, length }),
  fc.record({
    kind: fc.constant("insert" as const),
    at: place,
    text: fc.constantFrom(...LINE_ENDS, ...TOKENS),
  }),
  fc.record({ kind: fc.constant("splice" as const), at: place, from: place }),
);

/** A few changes to apply in order. */
export const damages: fc.Arbitrary<Damage[]> = fc.array(damage, { maxLength: 6 });

/** Applies the changes to a copy of the body. A splice continues with bytes of `other`. */
export function applyDamage(body: Buffer, all: readonly Damage[], other: Buffer): Buffer {
  return all.reduce<Buffer>((damaged, one) => applyOne(damaged, one, other), body);
}

function applyOne(body: Buffer, one: Damage, other: Buffer): Buffer {
  const at = offsetOf(one.at, body);
  const before = body.subarray(0, at);
  switch (one.kind) {
    case "flip": {
      const flipped = Buffer.from(body);
      flipped[at] = (flipped[at] ?? 0) ^ one.bits;
      return flipped;
    }
    case "cut":
      return Buffer.concat([before, body.subarray(at + one.length)]);
    case "double":
      return Buffer.concat([before, body.subarray(at, at + one.length), body.subarray(at)]);
    case "insert":
      return Buffer.concat([before, Buffer.from(one.text), body.subarray(at)]);
    case "splice":
      return Buffer.concat([before, other.subarray(offsetOf(one.from, other))]);
  }
}

function offsetOf(at: Place, body: Buffer): number {
  if ("anywhere" in at) return at.anywhere % (body.length + 1);
  let found = 0;
  for (let n = at.nth % 40; n >= 0; n -= 1) {
    const next = body.indexOf(at.word, found + 1);
    if (next === -1) break;
    found = next;
  }
  return Math.min(body.length, Math.max(0, found + at.offset));
}
