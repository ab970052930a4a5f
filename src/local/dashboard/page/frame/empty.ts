import { copyable, element } from "../elements.ts";

/**
 * What a view without requests says: how to get some.
 * @param isUnused - whether there was none in any period: then there is nothing to choose from, either
 */
export function nothingYet(title: string, isUnused: boolean, ...more: readonly HTMLElement[]): HTMLElement {
  return element(
    "section",
    { class: isUnused ? "empty unused" : "empty" },
    element("h2", {}, title),
    element("p", { class: "listening" }, `Listening on ${location.host}. A request appears here by itself.`),
    ...more,
    element("p", {}, "To point a tool at tollkeeper, type in a terminal, for example:"),
    copyable("tollkeeper connect claude-code"),
    element("p", { class: "remark" }, "Other tools: tollkeeper connect --list"),
  );
}

/** What a view says whose filters leave nothing. */
export function nothingMatches(onClear: () => void): HTMLElement {
  return element(
    "section",
    { class: "empty" },
    element("h2", {}, "No request in this period matches."),
    element("button", { onclick: onClear }, "Clear the filters"),
  );
}
