import type { Destination, Recipe } from "./recipe.ts";

interface ByHand extends Pick<Recipe, "tool" | "title" | "source" | "date" | "signs"> {
  /** What the person can do, and what cannot work. */
  remarks(to: Destination): readonly string[];
}

/** A tool without settings that we could write: all there is to it is said. */
export function byHand({ remarks, ...facts }: ByHand): Recipe {
  return {
    ...facts,
    tried: null,
    scopes: [],
    modelOf: null,
    plan: (_on, to) => ({ files: [], remarks: remarks(to) }),
    environment: () => null,
  };
}
