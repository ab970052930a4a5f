import { choice, element } from "./elements.ts";
import { nameGroup } from "./project-names.ts";
import { PERIODS, type Change, type State } from "./state.ts";
import { dayOf, spanOf, startOfDay } from "./times.ts";
import { dateFormat } from "./numbers.ts";

const OWN_RANGE = "own";
const CHOICES = [...PERIODS, [OWN_RANGE, "from … to …"] as const];

/** Controls for the time that is shown: a period until now, or the first and the last day. */
export function periodControls(state: State, change: Change): HTMLElement[] {
  const isPeriod = PERIODS.some(([since]) => since === state.since);
  const choose = (since: string) => change(since === OWN_RANGE ? lastDays() : { since, until: undefined });
  const chooser = choice<string>("Period", CHOICES, isPeriod ? state.since : OWN_RANGE, choose);
  if (isPeriod) return [chooser];
  const { from, to } = spanOf(state);
  const [first, last] = [dayOf(from), dayOf(new Date(to.getTime() - 1))];
  return [
    chooser,
    dayInput("From", first, (since) => change({ since, until: last < since ? since : last })),
    dayInput("To", last, (until) => change({ since: until < first ? until : first, until })),
    ...hours(state),
  ];
}

/** A button for each filter, which removes it. */
export function filterControls({ filter }: State, change: Change): HTMLElement[] {
  return Object.entries(filter).map(([name, value]) => {
    const { [name]: _, ...rest } = filter;
    return element(
      "button",
      { class: "filter", title: `remove this filter: ${value}`, onclick: () => change({ filter: rest }) },
      `${name}: ${nameGroup(name, value)} ✕`,
    );
  });
}

function lastDays(): { since: string; until: string } {
  const now = new Date();
  return { since: dayOf(startOfDay(now, -6)), until: dayOf(now) };
}

function dayInput(label: string, value: string, onDay: (day: string) => void): HTMLElement {
  // Empty while a person types.
  const onchange = (day: string) => {
    if (day !== "") onDay(day);
  };
  const input = element("input", { type: "date", value, onchange, attributes: { max: dayOf(new Date()) } });
  return element("label", {}, `${label} `, input);
}

/** Says which hours are shown, where they are not whole days. */
function hours(state: State): HTMLElement[] {
  if (!state.since.includes("T")) return [];
  const { from, to } = spanOf(state);
  const format = dateFormat({ dateStyle: "medium", timeStyle: "short" });
  return [element("span", {}, format.formatRange(from, to))];
}

/** A box whose words filter what is shown as a person types. It is among the controls, which stay while the figures are renewed. */
export function searchBox(label: string, words: string, onWords: (words: string) => void): HTMLElement {
  const input = element("input", { type: "search", value: words });
  input.addEventListener("input", () => onWords(input.value));
  return element("label", {}, `${label} `, input);
}
