import { element } from "../elements.ts";

/** The area over the bars of a chart: what somebody points at, and what is selected. */
export interface ChartArea {
  element: HTMLElement;
  /** Points at a time; at none with null. */
  point(at: number | null): void;
  /** Selects the times from one to another; none with null. */
  select(range: readonly [first: number, last: number] | null): void;
}

/** Shares of a time that are free at each end of the area. */
export const END_SPACE = 0.1;
/** Pixels that a pointer may move between press and release, and still clicks. */
const STILL = 3;

/** How many times wide an area is. */
export function widthInTimes(count: number): number {
  return count + 2 * END_SPACE;
}

/**
 * Returns the area of a chart of so many times.
 * @param onPoint - called with the time that is pointed at; null for none
 * @param onSelect - called with the first and the last time of a drag, which are the same for a click
 */
export function chartArea(
  count: number,
  onPoint: (at: number | null) => void,
  onSelect: ((first: number, last: number) => void) | undefined,
): ChartArea {
  const cursor = element("div", { class: "cursor" });
  const selection = element("div", { class: "selection" });
  const area = element("div", { class: "area" }, cursor, selection);
  /** Where a press began; null while there is none. */
  let pressed: { x: number; at: number; isDrag: boolean } | null = null;
  const point = (at: number | null) => {
    placeOver(cursor, count, at === null ? null : [at, at]);
    onPoint(at);
  };
  const select = (range: readonly [number, number] | null) => placeOver(selection, count, range);
  const placeAt = (event: PointerEvent) => {
    const { left, width } = area.getBoundingClientRect();
    const at = Math.floor(((event.clientX - left) / width) * widthInTimes(count) - END_SPACE);
    return Math.min(count - 1, Math.max(0, at));
  };
  area.addEventListener("pointermove", (event) => {
    const at = placeAt(event);
    point(at);
    if (pressed === null) return;
    pressed.isDrag ||= Math.abs(event.clientX - pressed.x) > STILL;
    if (pressed.isDrag) select(inOrder(pressed.at, at));
  });
  area.addEventListener("pointerleave", () => point(null));
  if (onSelect !== undefined) {
    area.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      area.setPointerCapture(event.pointerId);
      pressed = { x: event.clientX, at: placeAt(event), isDrag: false };
    });
    area.addEventListener("pointerup", (event) => {
      if (pressed === null) return;
      const range = inOrder(pressed.at, placeAt(event));
      pressed = null;
      onSelect(...range);
    });
    // As a finger scrolls the page.
    area.addEventListener("pointercancel", () => {
      pressed = null;
      select(null);
    });
  }
  return { element: area, point, select };
}

function inOrder(one: number, other: number): [first: number, last: number] {
  return one < other ? [one, other] : [other, one];
}

/** Lays a part of an area over its times; hides it with null. */
function placeOver(
  part: HTMLElement,
  count: number,
  range: readonly [first: number, last: number] | null,
): void {
  const [first, last] = range ?? [0, -1];
  part.style.left = `${(100 * (first + END_SPACE)) / widthInTimes(count)}%`;
  part.style.width = `${(100 * (last - first + 1)) / widthInTimes(count)}%`;
}
