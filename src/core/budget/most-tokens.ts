/** The largest prompt that any model takes: a larger body has something else in it. */
export const MAX_INPUT = 2_000_000;

/** More than any model generates. */
export const MAX_OUTPUT = 1_000_000;
