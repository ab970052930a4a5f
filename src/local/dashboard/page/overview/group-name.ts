import { element } from "../elements.ts";
import { nameGroup } from "../project-names.ts";
import { isFilter, type Change, type State } from "../state.ts";
import { OTHERS_COLOUR } from "./series-colours.ts";

/** Returns what a cell has for the name of a group: its colour in the chart, and its name, which narrows the view to it. */
export type GroupName = (name: string) => (Node | string)[];

/** Returns the cells' contents for the names of a grouping. What no filter can take is no link. */
export function groupNames(
  { by, filter }: Pick<State, "by" | "filter">,
  colours: ReadonlyMap<string, number>,
  change: Change,
): GroupName {
  return (name) => {
    const mark = element("span", { class: `mark mark-${colours.get(name) ?? OTHERS_COLOUR}` });
    if (!isFilter(by) || name === `(no ${by})`) return [mark, name];
    const narrow = () => change({ filter: { ...filter, [by]: name } });
    const title = `only ${name}`;
    return [mark, element("button", { class: "link", title, onclick: narrow }, nameGroup(by, name))];
  };
}
