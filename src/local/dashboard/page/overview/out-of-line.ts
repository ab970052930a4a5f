import { element, withCommand } from "../elements.ts";
import type { OutOfLine } from "../feed-types.ts";
import { readFeed } from "../feeds.ts";
import { formatState, parseState } from "../state.ts";
import { dayOf } from "../times.ts";

/** One for all times that the view is renewed: it keeps what it says until the daemon says something else, which may take seconds. */
const panel = element("section", {
  class: "out-of-line",
  ariaLabel: "out of line today",
  ariaLive: "polite",
});
/** The same for where nothing is out of line. It has a place of its own, so that nothing moves when that is known. */
const remark = element("small", { class: "unusual" });

/** Says what is out of line today, as `digest --today` does; nothing until that is known. */
export function outOfLine(signal: AbortSignal): { panel: HTMLElement; remark: HTMLElement } {
  void readFeed<{ today: OutOfLine | null }>("out-of-line", {}, signal)
    .then(({ today }) => {
      panel.replaceChildren(...(today === null ? [] : findingsOf(today)));
      remark.textContent = today === null ? "" : describeUsual(today);
    })
    // The view says already if the daemon is gone.
    .catch(() => {});
  return { panel, remark };
}

/** Says what was judged, and not more: a day may be dear as a whole. */
function describeUsual({ is_known: isKnown, items }: OutOfLine): string {
  if (items.length > 0) return "";
  return isKnown
    ? "No unusual session or request today"
    : "Too little is recorded to say what is unusual today";
}

function findingsOf({ since, items }: OutOfLine): HTMLElement[] {
  if (items.length === 0) return [];
  return [
    element("h2", {}, "Out of line today"),
    element(
      "ul",
      { class: "notices" },
      ...items.map(({ text, command, session }) =>
        element(
          "li",
          { class: "warning" },
          `${text}. `,
          ...(session === null ? withCommand(`To see more, type: ${command}`) : [linkTo(session, since)]),
        ),
      ),
    ),
  ];
}

function linkTo(session: string, since: string): HTMLElement {
  const href = formatState({
    ...parseState(location.hash),
    view: "sessions",
    since: dayOf(new Date(since)),
    until: undefined,
    filter: { session },
    sort: undefined,
    search: "",
  });
  return element("a", { href }, "See the session");
}
