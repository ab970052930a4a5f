/** The last colour is that of all others. */
export const OTHERS_COLOUR = 7;

/**
 * Gives each name a colour of its own, by its letters, so that a tool keeps its colour when another one spends more, and from day to day.
 * Where two names would have the same one, the second gets the next that is free.
 * @param names - at most as many as there are colours without that of the others
 */
export function coloursOf(names: readonly string[]): ReadonlyMap<string, number> {
  const colours = new Map<string, number>();
  for (const name of names) {
    const taken = new Set(colours.values());
    let colour = hashOf(name) % OTHERS_COLOUR;
    while (taken.has(colour) && taken.size < OTHERS_COLOUR) colour = (colour + 1) % OTHERS_COLOUR;
    colours.set(name, colour);
  }
  return colours;
}

/**
 * The same for the names of a chart, so that they keep their colours in another period, too.
 * @param order - the names of the chart. One more than there are colours gets that of the others
 * @param lasting - names that are used much whatever the period, at most as many as there are colours
 */
export function lastingColours(
  order: readonly string[],
  lasting: readonly string[],
): ReadonlyMap<string, number> {
  const known = coloursOf(lasting.toSorted());
  const colours = new Map<string, number>();
  for (const name of order) {
    const colour = known.get(name);
    if (colour !== undefined) colours.set(name, colour);
  }
  const taken = new Set(colours.values());
  for (const name of order) {
    if (colours.has(name)) continue;
    let colour = hashOf(name) % OTHERS_COLOUR;
    while (taken.has(colour) && taken.size < OTHERS_COLOUR) colour = (colour + 1) % OTHERS_COLOUR;
    if (taken.has(colour)) colour = OTHERS_COLOUR;
    taken.add(colour);
    colours.set(name, colour);
  }
  return colours;
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
