/** So many steps or fewer, the last of which is not below the highest value. */
const MOST_STEPS = 5;
const STEPS = [1, 2, 2.5, 5, 10];

/** Returns the distance of the ticks of an axis: 1, 2, 2.5 or 5 of a power of ten. */
function stepOfAxis(most: number, steps: number): number {
  const power = 10 ** Math.floor(Math.log10(most / steps));
  return power * (STEPS.find((step) => step * power * steps >= most) ?? 10);
}

/**
 * Returns the ticks of an axis from 0 to the first that is not below the highest value, so that the axis says how high that is.
 * @param steps - how many there are between the first and the last, where another axis has as many
 */
export function ticksOfAxis(most: number, steps?: number): number[] {
  if (!(most > 0)) return [0, 1];
  const step = stepOfAxis(most, steps ?? MOST_STEPS);
  return Array.from({ length: (steps ?? Math.ceil(most / step - 1e-9)) + 1 }, (_, at) => at * step);
}

/** Between two labels of times. Pixels. */
const LABEL_SPACE = 68;
/** Days have weeks and months; requests are numbered. */
const TIME_STEPS = [1, 2, 3, 4, 6, 7, 12, 14, 30, 60];
const NUMBER_STEPS = [1, 2, 5, 10, 20, 50, 100];

/**
 * Returns the places of the times that have a label, where each takes so many pixels.
 * @param firstNumber - undefined for times without numbers
 * @param hasLast - whether the last one has a label
 */
export function labelledPlaces(
  count: number,
  slot: number,
  firstNumber: number | undefined,
  hasLast = false,
): number[] {
  const steps = firstNumber === undefined ? TIME_STEPS : NUMBER_STEPS;
  const step = steps.find((one) => one * slot >= LABEL_SPACE) ?? steps.at(-1) ?? 1;
  const start = hasLast ? 1 - count : (firstNumber ?? 0);
  return Array.from({ length: count }, (_, at) => at).filter((at) => (at + start) % step === 0);
}
