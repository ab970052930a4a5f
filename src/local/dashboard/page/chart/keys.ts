import type { ChartArea } from "./area.ts";

/** What a chart does with keys. */
interface KeyedChart {
  area: ChartArea;
  /** How many times it has. */
  count: number;
  /** Says what there is at a time. */
  describe(at: number): string;
  /** Called with the places of the first and the last of the selected times. */
  onSelect?: ((first: number, last: number) => void) | undefined;
}

/** How far each key goes; to an end where that is infinite. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -7,
  PageUp: 7,
  Home: -Infinity,
  End: Infinity,
};

/** Where the keys were: the chart is drawn again while somebody looks at it, and then has as many times as before. */
let kept = { count: 0, at: 0, start: 0 };

/**
 * Has a chart follow keys as it follows the pointer: arrows go from time to time, Shift selects the times between, Enter zooms into them, and
 * Escape selects nothing. `place` is a slider for those who hear the page, and says what there is at its time.
 */
export function followKeys(place: HTMLElement, { area, count, describe, onSelect }: KeyedChart): void {
  const isFocused = document.activeElement === place;
  let { at, start } = isFocused && kept.count === count ? kept : { at: count - 1, start: count - 1 };
  const show = () => {
    area.point(at);
    area.select(start === at ? null : [Math.min(start, at), Math.max(start, at)]);
    kept = { count, at, start };
    say();
  };
  const say = () => {
    place.ariaValueNow = String(at + 1);
    place.ariaValueText = describe(at);
  };
  place.ariaValueMin = "1";
  place.ariaValueMax = String(count);
  say();
  if (isFocused && place.matches(":focus-visible")) show();
  place.addEventListener("focus", () => {
    // A click has a pointer, which says where it is.
    if (place.matches(":focus-visible")) show();
  });
  place.addEventListener("blur", () => {
    start = at;
    area.select(null);
    area.point(null);
  });
  place.addEventListener("keydown", (event) => {
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    const step = STEPS[key];
    if (step !== undefined) {
      at = Math.min(count - 1, Math.max(0, at + step));
      if (!shiftKey || onSelect === undefined) start = at;
    } else if (key === "Escape") start = at;
    else if (key === "Enter" && onSelect !== undefined) {
      event.preventDefault();
      onSelect(Math.min(start, at), Math.max(start, at));
      return;
    } else return;
    event.preventDefault();
    show();
  });
}
