import { choice, element, replaceContents } from "../elements.ts";
import type { Row } from "../feed-types.ts";
import { meetProjects, nameGroup, projectsIn } from "../project-names.ts";
import type { Change, State } from "../state.ts";

/** What the lists are of. */
const FIELDS = ["tool", "model", "project"] as const;
const ANY = "";

/**
 * Lists of the tools, models and projects of a period, of which a reader chooses one. They are among the controls, and filled once the names
 * are known. On a phone, a button unfolds them.
 */
export class Narrowing {
  readonly #lists = element("span", { class: "lists" });
  readonly #unfold = element("button", { class: "unfold", onclick: () => this.#toggle() });
  readonly element = element("span", { class: "narrowing" }, this.#unfold, this.#lists);
  #shown = "";

  constructor() {
    this.#unfold.ariaExpanded = "false";
  }

  /** Shows the names of these rows. Lists that have them already stay, as somebody may be choosing. */
  show(rows: readonly Row[], { filter }: State, change: Change): void {
    meetProjects(projectsIn(rows));
    const all = FIELDS.map((field) => [field, namesOf(rows, field, filter[field])] as const);
    const shown = JSON.stringify([all, filter]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const chosen = FIELDS.filter((field) => filter[field] !== undefined).length;
    this.#unfold.textContent = chosen === 0 ? "Filters" : `Filters (${chosen})`;
    // A list without names would have nothing to choose from.
    const lists = all
      .filter(([, names]) => names.length > 0)
      .map(([field, names]) => listOf(field, names, filter, change));
    this.#unfold.hidden = lists.length === 0;
    replaceContents(this.#lists, ...lists);
  }

  #toggle(): void {
    this.#unfold.ariaExpanded = String(this.#lists.classList.toggle("unfolded"));
  }
}

function listOf(
  field: (typeof FIELDS)[number],
  names: readonly string[],
  filter: State["filter"],
  change: Change,
): HTMLElement {
  const choices = names.map((name) => [name, nameGroup(field, name)] as const);
  const { [field]: chosen = ANY, ...rest } = filter;
  const label = `${field[0]?.toUpperCase() ?? ""}${field.slice(1)}`;
  return choice(label, [[ANY, "any"], ...choices], chosen, (name) =>
    change({ filter: name === ANY ? rest : { ...rest, [field]: name } }),
  );
}

/** The names that rows have, and the one that is chosen. */
function namesOf(rows: readonly Row[], field: string, chosen: string | undefined): string[] {
  const names = rows.flatMap((row) => {
    const name = row[field];
    return typeof name === "string" ? [name] : [];
  });
  return [...new Set([...names, ...(chosen === undefined ? [] : [chosen])])].toSorted();
}
