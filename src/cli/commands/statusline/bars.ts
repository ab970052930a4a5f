import { toPrintable } from "../../../core/text/printable.ts";
import { DEFAULT_FORMAT, render, VALUES, type Values } from "./render.ts";

/** Formats for programs that show a line of their own: a word in place of a text with placeholders. */
export const BARS = ["json", "waybar", "xbar", "swiftbar"] as const;
type Bar = (typeof BARS)[number];

/** What is to be shown: the values, or why there are none. */
export type Shown = { values: Values } | { trouble: string };

/** From this share of a budget on, a bar is to be noticed. It is the first at which a budget warns, unless it says otherwise. */
const WARNING_PERCENT = 80;
const SPENT_PERCENT = 100;

export function isBar(format: string): format is Bar {
  return (BARS as readonly string[]).includes(format);
}

/** Returns what the program reads, without the last line's end. */
export function renderBar(bar: Bar, shown: Shown): string {
  if (bar === "json") return toJson(shown);
  return bar === "waybar" ? toWaybar(shown) : toMenu(shown);
}

/** One object with all values, in which what there is none of is null. */
function toJson(shown: Shown): string {
  const values = "values" in shown ? shown.values : null;
  const members = VALUES.map((name) => [name, values === null || values[name] === "" ? null : values[name]]);
  return toPrintable(
    JSON.stringify({
      class: classOf(shown),
      trouble: "trouble" in shown ? shown.trouble : null,
      ...Object.fromEntries(members),
    }),
  );
}

/** https://github.com/Alexays/Waybar/wiki/Module:-Custom, with `"return-type": "json"`. Texts are Pango's markup. */
function toWaybar(shown: Shown): string {
  const percentage = percentOf(shown);
  return toPrintable(
    JSON.stringify({
      text: escapeMarkup("values" in shown ? shown.values.today : "off"),
      tooltip: escapeMarkup("values" in shown ? render(DEFAULT_FORMAT, shown.values, false) : shown.trouble),
      class: classOf(shown),
      ...(percentage !== null && { percentage: Math.min(percentage, SPENT_PERCENT) }),
    }),
  );
}

/** What `{NAME}` is called in a menu, in the menu's order. */
const MENU = {
  failing: "failing",
  paused: "paused",
  session: "session",
  today: "today",
  cache: "from cache",
  budget: "of a budget spent",
  limits: "used",
  unpriced: "without a price",
} as const;

/** https://github.com/matryer/xbar-plugins/blob/main/CONTRIBUTING.md, which SwiftBar reads, too: a title, a line, and the menu. */
function toMenu(shown: Shown): string {
  if ("trouble" in shown) return ["–", "---", menuText(shown.trouble)].join("\n");
  const { values } = shown;
  const colour = COLOURS[classOf(shown)];
  const title = `${menuText(values.today)}${colour === undefined ? "" : ` | color=${colour}`}`;
  const lines = Object.entries(MENU).flatMap(([name, meaning]) => {
    const value = values[name as keyof typeof MENU];
    return value === "" ? [] : [`${menuText(value)} ${meaning}`];
  });
  return [title, "---", ...lines].join("\n");
}

const COLOURS: Readonly<Record<string, string>> = { failing: "red", spent: "red", warning: "orange" };

/** One word for what a bar shows in a colour: the worst first. */
function classOf(shown: Shown): string {
  if ("trouble" in shown) return "off";
  const { failing, paused } = shown.values;
  const percent = percentOf(shown) ?? 0;
  if (failing !== "") return "failing";
  if (percent >= SPENT_PERCENT) return "spent";
  if (percent >= WARNING_PERCENT) return "warning";
  return paused === "" ? "ok" : "paused";
}

function percentOf(shown: Shown): number | null {
  const [, digits] = "values" in shown ? (/^(\d+)%$/.exec(shown.values.budget) ?? []) : [];
  return digits === undefined ? null : Number(digits);
}

function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A bar would begin the settings of a line, a line break the next item, and hyphens at the start a submenu. */
function menuText(text: string): string {
  return toPrintable(text).replaceAll("|", "¦").replace(/^-+/, "");
}
