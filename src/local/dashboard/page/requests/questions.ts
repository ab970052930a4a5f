import { element } from "../elements.ts";
import { formatCount } from "../numbers.ts";
import { formatState, type State } from "../state.ts";
import { DEAREST } from "./request-columns.ts";

/** How many requests there are of each kind; missing where it is not known. */
export type Counts = Partial<Record<State["outcome"], number>>;

/** What people come with: the words, and what is chosen then. */
const QUESTIONS = [
  ["All", { outcome: "all", sort: undefined }],
  ["Problems", { outcome: "problem", sort: undefined }],
  ["Most expensive", { outcome: "all", sort: DEAREST }],
  ["Cache misses", { outcome: "missed", sort: undefined }],
] as const satisfies readonly (readonly [string, Pick<State, "outcome" | "sort">])[];

/** Links for the questions that people come with, which keep the period, the filters and the search. They stay, and so does the focus. */
export class Questions {
  readonly #links = QUESTIONS.map(([words, chosen]) => {
    const count = element("small");
    return { chosen, count, link: element("a", {}, words, " ", count) };
  });
  readonly element = element(
    "div",
    { class: "questions", role: "group", ariaLabel: "common questions" },
    ...this.#links.map(({ link }) => link),
  );
  #state: State | null = null;
  /** Whether the counts, which make the links wider, are still to come. */
  #areCountsToCome = true;

  /** Points the links where the rest of the state stays as it is, and marks the one that is shown. */
  show(state: State): void {
    this.#state = state;
    for (const { link, chosen } of this.#links) {
      link.href = formatState({ ...state, ...chosen });
      // The order of a list of problems does not make it another one.
      const isShown =
        state.outcome === chosen.outcome &&
        (chosen.outcome !== "all" || (state.sort === DEAREST) === (chosen.sort === DEAREST));
      if (isShown) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    this.#areCountsToCome = true;
    // The controls may not be in the page yet.
    requestAnimationFrame(() => this.#reveal());
  }

  /** On a phone, not all links have room: moves the row so that the one that is shown is in sight. The page itself stays where it is. */
  #reveal(): void {
    const shown = this.#links.find(({ link }) => link.hasAttribute("aria-current"))?.link;
    if (shown === undefined) return;
    const [row, one] = [this.element, shown].map((part) => part.getBoundingClientRect());
    if (row === undefined || one === undefined) return;
    if (one.left < row.left || one.right > row.right)
      this.element.scrollLeft += (one.left + one.right - row.left - row.right) / 2;
  }

  /** Takes over what has changed without the requests being read again. */
  follow(changes: Partial<State>): void {
    if (this.#state !== null) this.show({ ...this.#state, ...changes });
  }

  /** Says how many requests each has. */
  count(counts: Counts): void {
    for (const { chosen, count } of this.#links) {
      const known = chosen.sort === DEAREST ? undefined : counts[chosen.outcome];
      count.textContent = known === undefined ? "" : formatCount(known);
    }
    // A reader may move the row later.
    if (this.#areCountsToCome) this.#reveal();
    this.#areCountsToCome = false;
  }
}
